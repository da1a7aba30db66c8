/**
 * The dev stack as a newcomer meets it: how long `npm run dev` takes to each stage and to be ready with packages
 * installed, what each of its processes holds and uses at rest with a block a second (on Linux), and how long a mined
 * purchase takes to be readable through the API. It starts stacks of its own, on free ports and in a folder of their own,
 * beside one that may be running.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createWalletClient, type Hex, http, maxUint256, publicActions } from "viem";
import { z } from "zod";
import { coverRouterAbi } from "../abis/CoverRouter.ts";
import { mockUsdcAbi } from "../abis/MockUSDC.ts";
import { anvilAccount } from "../lib/chain/client.ts";
import { requireDeployment } from "../lib/deployments.ts";
import { entryByName, MINIMUM_COVERAGE } from "../lib/products.ts";
import { freePorts } from "../scripts/local/ports.ts";
import { type Child, deathNotice, startProcess } from "../scripts/local/processes.ts";
import { waitFor } from "../scripts/local/wait.ts";
import { type Finding, median, percentile, report } from "./report.ts";
import { cpuOf, memoryOf } from "./stack-processes.ts";

const STARTS = 3;
const PURCHASES = 100;
/** Time for start-up work to settle, and then for the look at what is used at rest. */
const SETTLE_MS = 10_000;
const REST_MS = 20_000;
/** Aims for two cores: seconds to ready, percent of one core at rest, and ms from mined to readable when polled each 100 ms. */
const READY_LIMIT_S = 15;
const REST_CPU_LIMIT = 15;
const FRESHNESS_LIMIT_MS = 150;

type Stack = {
  readonly child: Child;
  readonly folder: string;
  readonly apiUrl: string;
  readonly rpcUrl: string;
};

async function startStack(): Promise<{ stack: Stack; readySeconds: number }> {
  const folder = mkdtempSync(join(tmpdir(), "bench-stack-"));
  const [api, anvil, testnet, postgres, ponder, metrics] = await freePorts(6);
  const started = performance.now();
  const child = await startProcess({
    name: "dev stack",
    command: process.execPath,
    args: ["scripts/run.mjs", "scripts/dev.ts"],
    logFile: join(folder, "dev.log"),
    env: {
      ...process.env,
      DATA_DIR: folder,
      PORT: String(api),
      ANVIL_PORT: String(anvil),
      TESTNET_ANVIL_PORT: String(testnet),
      POSTGRES_PORT: String(postgres),
      PONDER_PORT: String(ponder),
      METRICS_PORT: String(metrics),
      DATABASE_URL: "",
      REDIS_URL: "",
      PUBLIC_RATE_LIMIT: "1000000000",
    },
  });
  await waitFor({
    what: "the dev stack to be ready",
    probe: () => readFileSync(child.logFile, "utf8").includes("Ready in ") || undefined,
    hopeless: () => deathNotice(child),
    timeoutMs: 120_000,
    intervalMs: 20,
  });
  const readySeconds = (performance.now() - started) / 1000;
  const apiUrl = `http://127.0.0.1:${api}`;
  return { stack: { child, folder, apiUrl, rpcUrl: `http://127.0.0.1:${anvil}` }, readySeconds };
}

async function stopStack({ child, folder }: Stack): Promise<void> {
  await child.stop({ graceMs: 30_000 });
  rmSync(folder, { recursive: true, force: true });
}

/** Seconds from the command to each stage that the stack prints. */
function stagesOf({ child }: Stack): Finding[] {
  const lines = readFileSync(child.logFile, "utf8").matchAll(/^ +([\d.]+) s {2}(.+)$/gm);
  return [...lines].map(([, seconds, stage]) => ({
    what: `npm run dev to ${stage}`,
    value: Number(seconds),
    unit: "s",
  }));
}

async function atRest({ folder }: Stack): Promise<Finding[]> {
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

/** Milliseconds from the answer that a purchase is mined to the API's list showing it, one figure per purchase. */
async function freshness({ folder, apiUrl, rpcUrl }: Stack): Promise<number[]> {
  const { contracts } = requireDeployment(join(folder, "deployments", "8453.json"));
  const product = entryByName("FLASHBTC1H-001");
  if (!product) throw new Error("the catalogue lacks FLASHBTC1H-001");
  const wallet = createWalletClient({ account: anvilAccount(9), transport: http(rpcUrl) }).extend(
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
    // Purchases fall anywhere between two looks of the indexer, and not in step with them.
    await sleep(Math.random() * 200);
  }
  return delays;
}

export async function benchStack(): Promise<void> {
  const readyTimes: number[] = [];
  let findings: Finding[] = [];
  for (let start = 1; start <= STARTS; start++) {
    const { stack, readySeconds } = await startStack();
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
      await stopStack(stack);
    }
  }
  report(`stack: ${STARTS} starts, ${PURCHASES} purchases, ${cpus().length} cores`, [
    { what: "npm run dev to ready, median", value: median(readyTimes), unit: "s", limit: READY_LIMIT_S },
    { what: "npm run dev to ready, slowest", value: Math.max(...readyTimes), unit: "s" },
    ...findings,
  ]);
}
