/**
 * The keeper in a crash: a thousand open policies are due at once, on a chain with a block a second. How long until each is
 * triggered, and for how much gas; compared with the same keeper on a deployment without Multicall3, which sends a transaction
 * for each policy.
 */
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { privateKeyOf } from "../scripts/local/anvil.ts";
import type { ServiceStack } from "../scripts/local/service-stack.ts";
import { serviceWallets } from "../scripts/local/service-wallets.ts";
import { waitFor } from "../scripts/local/wait.ts";
import { type BenchStack, withBenchStack } from "./bench-stack.ts";
import { type Crash, measureCrash } from "./keeper-crash.ts";
import { measureRaw } from "./measure-purchases.ts";
import { cpuSecondsOf } from "./process-usage.ts";
import { type PurchasesStack, preparePurchases } from "./purchases-stack.ts";
import { type Finding, median, percentile, report } from "./report.ts";

const POLICIES = 1000;
const ROUNDS = 3;
/** Enough for the gas of a transaction for each policy. */
const ALONE = 200;
const LIMIT_S = 60;
/** A keeper that misses its limit is still measured. */
const TIMEOUT_MS = 300_000;
/** A limit that is never reached, although the code that counts runs. */
const NO_LIMIT = "1000000";

const settings = {
  keeperKey: privateKeyOf(serviceWallets.keeper),
  more: { writer: { KEEPER_GAS_BUDGET_ETH: NO_LIMIT } },
};

/** The deployment file without Multicall3. */
function withoutMulticall3({ folder, chain }: BenchStack): string {
  const { multicall3: _, ...deployment } = chain.deployment;
  const file = join(folder, "without-multicall3.json");
  writeFileSync(file, JSON.stringify(deployment));
  return file;
}

/** Waits until the index has every block so far. */
async function untilIndexed({ sql, protocol }: BenchStack): Promise<void> {
  const newest = await protocol.client.getBlockNumber();
  await waitFor({
    what: `the index to have block ${newest}`,
    probe: async () => {
      const [head] = await sql<{ number: string }[]>`select number::text from indexer.head`;
      return (head && BigInt(head.number) >= newest) || undefined;
    },
  });
}

/** Sells `count` policies, lets the price crash once the index has them, and adds the CPU that each process used. */
async function sellAndCrash(
  bench: BenchStack,
  stack: PurchasesStack,
  count: number,
  beforeCrash: () => Promise<unknown> = async () => {},
) {
  await measureRaw(stack, count);
  await untilIndexed(bench);
  await beforeCrash();
  const roots = [...bench.processes].map(([name, pid]) => ({ name, pid }));
  const before = cpuSecondsOf(roots);
  const crash = await measureCrash(bench, count, TIMEOUT_MS);
  const cpu = [...cpuSecondsOf(roots)].map(([name, seconds]) => ({
    name,
    ms: (1000 * (seconds - (before.get(name) ?? 0))) / count,
  }));
  return { ...crash, cpu };
}
type Measured = Awaited<ReturnType<typeof sellAndCrash>>;

const gasPerPolicy = ({ triggers, receipts }: Crash) =>
  receipts.reduce((sum, { gasUsed }) => sum + Number(gasUsed), 0) / triggers.length;

/** The median over the crashes of one figure of each. */
const over = (crashes: readonly Measured[], figure: (crash: Measured) => number) =>
  median(crashes.map(figure));

const slowestOf = (crashes: readonly Crash[]) =>
  Math.max(...crashes.flatMap(({ triggers }) => triggers.map(({ seconds }) => seconds)));

function timeFindings(crashes: readonly Measured[]): Finding[] {
  const inTime = Math.min(
    ...crashes.map(({ triggers }) => triggers.filter(({ seconds }) => seconds <= LIMIT_S).length),
  );
  const times = (share: number) =>
    over(crashes, ({ triggers }) =>
      percentile(
        triggers.map(({ seconds }) => seconds),
        share,
      ),
    );
  const chainTimes = (share: number) =>
    over(crashes, ({ triggers }) =>
      percentile(
        triggers.map(({ chainSeconds }) => chainSeconds),
        share,
      ),
    );
  return [
    {
      what: `of ${POLICIES}, triggered within ${LIMIT_S} s, the fewest`,
      value: inTime,
      unit: "",
      compared: { with: POLICIES, limit: 1 },
    },
    { what: "due to mined, median", value: times(50), unit: "s" },
    { what: "  99th percentile", value: times(99), unit: "s" },
    { what: "  the last of all crashes", value: slowestOf(crashes), unit: "s", limit: LIMIT_S },
    { what: "due to mined by the blocks' timestamps, median", value: chainTimes(50), unit: "s" },
    { what: "  99th percentile", value: chainTimes(99), unit: "s" },
  ];
}

function gasFindings(crashes: readonly Measured[], alone: Measured): Finding[] {
  return [
    { what: "gas per policy, a transaction for each", value: gasPerPolicy(alone), unit: "gas" },
    {
      what: "gas per policy, batched",
      value: over(crashes, gasPerPolicy),
      unit: "gas",
      compared: { with: gasPerPolicy(alone) },
    },
    {
      what: "policies per transaction, batched",
      value: over(crashes, ({ triggers, receipts }) => triggers.length / receipts.length),
      unit: "",
    },
    {
      what: `due to mined, the last of ${alone.triggers.length}, a transaction for each`,
      value: slowestOf([alone]),
      unit: "s",
    },
  ];
}

function cpuFindings(crashes: readonly Measured[]): Finding[] {
  const names = crashes[0]?.cpu.map(({ name }) => name) ?? [];
  return names.map((name) => ({
    what: `CPU per policy: ${name}`,
    value: over(crashes, ({ cpu }) => cpu.find((one) => one.name === name)?.ms ?? 0),
    unit: "ms",
  }));
}

/** The crashes of a keeper with Multicall3, one of them without the index, and then one of a keeper without Multicall3. */
async function measure(bench: BenchStack, stack: PurchasesStack, services: ServiceStack): Promise<Finding[]> {
  const crashes: Measured[] = [];
  for (let round = 0; round < ROUNDS; round++) crashes.push(await sellAndCrash(bench, stack, POLICIES));
  const blind = await sellAndCrash(bench, stack, POLICIES, () => services.stopService("indexer"));
  await services.start("indexer");
  await services.stopService("writer");
  await bench.startServices(["writer"], { ...settings, deploymentFile: withoutMulticall3(bench) });
  const alone = await sellAndCrash(bench, stack, ALONE);
  return [
    ...timeFindings(crashes),
    {
      what: `due to mined while the index is away, the last of ${POLICIES}`,
      value: slowestOf([blind]),
      unit: "s",
      limit: LIMIT_S,
    },
    ...gasFindings(crashes, alone),
    ...cpuFindings(crashes),
  ];
}

/** Two wallets buy the policies directly from the chain. */
export const benchKeeper = (): Promise<void> =>
  withBenchStack({ relayers: 4 }, async (bench) => {
    const stack = await preparePurchases(bench);
    const services = await bench.startServices(["indexer"], settings);
    await services.start("writer");
    report(
      `keeper: ${ROUNDS} crashes with ${POLICIES} policies each, a block a second, ${cpus().length} cores`,
      await measure(bench, stack, services),
    );
  });
