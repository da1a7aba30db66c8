/**
 * The dev stack: the time from `npm run dev` to each stage and to ready with packages installed, the memory and CPU of each
 * process at rest with a block a second (on Linux), and the delay until a mined purchase is readable through the API.
 */
import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createWalletClient, type Hex, maxUint256, publicActions } from "viem";
import { z } from "zod";
import { coverRouterAbi } from "../abis/CoverRouter.ts";
import { mockUsdcAbi } from "../abis/MockUSDC.ts";
import { anvilAccount } from "../lib/chain/client.ts";
import { requireDeployment } from "../lib/deployments.ts";
import { entryByName, MINIMUM_COVERAGE } from "../lib/products.ts";
import { toNode } from "../scripts/local/to-node.ts";
import { cpuOf, memoryOf } from "./process-usage.ts";
import { type Finding, median, percentile, report } from "./report.ts";
import { type DevStack, startDevStack, stopDevStack } from "./start-dev-stack.ts";

const STARTS = 3;
const PURCHASES = 100;
/**
 * The wait until start-up work is done, with the keeper's first audit and V8's compilations, and then the time over which CPU at rest
 * is measured.
 */
const SETTLE_MS = 60_000;
const REST_MS = 20_000;
/** Aims for two cores: seconds to ready, percent of one core at rest, and ms from mined to readable with a poll every 100 ms. */
const READY_LIMIT_S = 15;
const REST_CPU_LIMIT = 15;
const FRESHNESS_LIMIT_MS = 150;

/** Seconds from the command to each stage that the stack prints. */
function stagesOf({ child }: DevStack): Finding[] {
  const lines = readFileSync(child.logFile, "utf8").matchAll(/^ +([\d.]+) s {2}(.+)$/gm);
  return [...lines].map(([, seconds, stage]) => ({
    what: `npm run dev to ${stage}`,
    value: Number(seconds),
    unit: "s",
  }));
}

async function atRest({ folder }: DevStack): Promise<Finding[]> {
  const cpu = await cpuOf(folder, REST_MS);
  const total = cpu.reduce((sum, { percent }) => sum + percent, 0);
  return [
    ...memoryOf(folder).map(({ name, megabytes }) => ({
      what: `memory of ${name} at rest`,
      value: megabytes,
      unit: "MB",
    })),
    ...cpu.map(({ name, percent }) => ({ what: `CPU of ${name} at rest`, value: percent, unit: "%" })),
    { what: "CPU of the whole stack at rest, of one core", value: total, unit: "%", limit: REST_CPU_LIMIT },
  ];
}

/** Milliseconds from a purchase's receipt until the API lists it, one figure per purchase. */
async function freshness({ folder, apiUrl, rpcUrl }: DevStack): Promise<number[]> {
  const { contracts } = requireDeployment(join(folder, "deployments", "8453.json"));
  const product = entryByName("FLASHBTC1H-001");
  if (!product) throw new Error("the catalogue lacks FLASHBTC1H-001");
  const wallet = createWalletClient({ account: anvilAccount(9), transport: toNode(rpcUrl) }).extend(
    publicActions,
  );
  const mined = async (hash: Hex) => {
    const { status } = await wallet.waitForTransactionReceipt({ hash, pollingInterval: 5 });
    if (status !== "success") throw new Error(`${hash} reverted`);
  };
  const buyer = wallet.account.address;
  const usdc = { chain: null, address: contracts.usdc, abi: mockUsdcAbi } as const;
  await mined(await wallet.writeContract({ ...usdc, functionName: "mint", args: [buyer, 10n ** 12n] }));
  await mined(
    await wallet.writeContract({
      ...usdc,
      functionName: "approve",
      args: [contracts.coverRouter, maxUint256],
    }),
  );

  const listed = z.object({ total: z.int() });
  const total = async () => {
    const response = await fetch(`${apiUrl}/api/v1/policies/by-buyer/${buyer}?limit=1`);
    return listed.parse(await response.json()).total;
  };
  const delays: number[] = [];
  let seen = await total();
  for (let i = 0; i < PURCHASES; i++) {
    const hash = await wallet.writeContract({
      chain: null,
      address: contracts.coverRouter,
      abi: coverRouterAbi,
      functionName: "purchasePolicy",
      args: [product.productId, MINIMUM_COVERAGE, product.asset],
    });
    await mined(hash);
    const minedAt = performance.now();
    while ((await total()) === seen) await sleep(2);
    delays.push(performance.now() - minedAt);
    seen += 1;
    // A random pause, so that purchases do not keep step with the indexer's polls.
    await sleep(Math.random() * 200);
  }
  return delays;
}

export async function benchStack(): Promise<void> {
  const readyTimes: number[] = [];
  let findings: Finding[] = [];
  for (let start = 1; start <= STARTS; start++) {
    const { stack, readySeconds } = await startDevStack();
    readyTimes.push(readySeconds);
    try {
      if (start < STARTS) continue;
      findings = stagesOf(stack);
      await sleep(SETTLE_MS);
      if (process.platform === "linux") findings.push(...(await atRest(stack)));
      const delays = await freshness(stack);
      findings.push(
        { what: "mined to readable, median", value: median(delays), unit: "ms", limit: FRESHNESS_LIMIT_MS },
        { what: "mined to readable, 99th percentile", value: percentile(delays, 99), unit: "ms" },
      );
    } finally {
      await stopDevStack(stack);
    }
  }
  report(`stack: ${STARTS} starts, ${PURCHASES} purchases, ${cpus().length} cores`, [
    { what: "npm run dev to ready, median", value: median(readyTimes), unit: "s", limit: READY_LIMIT_S },
    { what: "npm run dev to ready, slowest", value: Math.max(...readyTimes), unit: "s" },
    ...findings,
  ]);
}
