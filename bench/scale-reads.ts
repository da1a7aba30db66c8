/** Indexed reads a second while the indexer follows a busy chain: one and two apis, without a standby and from one. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceStack } from "../scripts/local/service-stack.ts";
import { ABOVE_ALL } from "./fill-index.ts";
import { CONNECTIONS, inTurn, type Load, load } from "./http-load.ts";
import { signRaw } from "./measure-purchases.ts";
import { cpuDuring } from "./process-usage.ts";
import type { PurchasesStack } from "./purchases-stack.ts";
import { type Finding, median } from "./report.ts";
import { startReplicas, stopAll, untilIndexed, untilStandbyUsed } from "./scale-services.ts";
import type { BenchStandby } from "./scale-standby.ts";

export const ROUNDS = 2;
const SECONDS = 4;
/** Purchases a second on the chain. */
const BUSY = 25;
/** More than are sent while one configuration is measured. */
const SIGNED = 1000;

type Measured = { readonly load: Load; readonly cpu: ReadonlyMap<string, number> };

/** Sends purchases to the chain while `work` runs. */
async function whileBusy<T>(stack: PurchasesStack, work: () => Promise<T>): Promise<T> {
  const signed = await signRaw(stack, SIGNED);
  let done = false;
  const sending = (async () => {
    for (const bytes of signed) {
      if (done) return;
      await stack.node.ask("eth_sendRawTransaction", [bytes]);
      await sleep(1000 / BUSY);
    }
  })();
  try {
    return await work();
  } finally {
    done = true;
    await sending;
  }
}

let asked = 0;
/** A page of a buyer's policies that nobody has asked for, so that no answer is in an api's memory. */
function freshPage({ buyers }: PurchasesStack): string {
  asked += 1;
  const buyer = buyers[asked % buyers.length];
  return `/api/v1/policies/by-buyer/${buyer?.address}?cursor=${ABOVE_ALL + asked}-0`;
}

/** CPU in microseconds per read, by process. */
async function measureApis(stack: PurchasesStack, apis: readonly ServiceStack[]): Promise<Measured> {
  let loads: Load[] = [];
  const request = inTurn(() => freshPage(stack));
  const options = { connections: CONNECTIONS / apis.length, duration: SECONDS };
  const used = await cpuDuring(stack.processes, async () => {
    loads = await Promise.all(apis.map(({ apiUrl }) => load(apiUrl, request, options)));
  });
  const perSecond = loads.reduce((total, one) => total + one.perSecond, 0);
  const reads = perSecond * SECONDS;
  return {
    load: { perSecond, p99: Math.max(...loads.map(({ p99 }) => p99)) },
    cpu: new Map([...used].map(([name, ms]) => [name, (1000 * ms) / reads])),
  };
}

/** The standby is stopped in the end. The indexer runs. */
export async function measureStandbyReads(stack: PurchasesStack, standby: BenchStandby): Promise<Finding[]> {
  const rounds = new Map<string, Measured[]>();
  for (let round = 0; round < ROUNDS; round += 1)
    for (const from of ["primary", "standby"] as const) {
      if (from === "standby") await standby.start();
      const readUrl = from === "standby" ? { readUrl: standby.url } : {};
      const instances = await startReplicas(stack, { apis: 2, writers: 0 }, { wallets: "own", ...readUrl });
      await untilIndexed(stack);
      await whileBusy(stack, async () => {
        if (from === "standby") await untilStandbyUsed(instances);
        for (const apis of [instances.slice(0, 1), instances]) {
          const what = `${apis.length} api${apis.length === 1 ? "" : "s"}, from the ${from}`;
          rounds.set(what, [...(rounds.get(what) ?? []), await measureApis(stack, apis)]);
        }
      });
      await stopAll(instances);
      if (from === "standby") await standby.kill9();
    }
  const [first] = rounds.values();
  const rateOf = (measured: readonly Measured[]) => median(measured.map((one) => one.load.perSecond));
  return [...rounds].flatMap(([what, measured]) => [
    { what, value: rateOf(measured), unit: "/s", compared: { with: first ? rateOf(first) : Number.NaN } },
    { what: "  p99", value: median(measured.map((one) => one.load.p99)), unit: "ms" },
    ...[...(measured[0]?.cpu.keys() ?? [])].map((name) => ({
      what: `  CPU per read: ${name}`,
      value: median(measured.map(({ cpu }) => cpu.get(name) ?? 0)),
      unit: "µs",
    })),
  ]);
}
