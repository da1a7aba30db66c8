/** Runs the load and the kills, and checks everything each few minutes and at the end. */
import { setTimeout as sleep } from "node:timers/promises";
import type { CompletedPurchase } from "../../fault/support/assertions.ts";
import { endpoints } from "../../fault/support/index-reads.ts";
import { createBuying } from "./buyers.ts";
import { type Checked, checkAll, passAnHour } from "./check.ts";
import { playRound, supervise } from "./kill.ts";
import { type Loop, startLoop } from "./loop.ts";
import { createOutages } from "./outages.ts";
import { planKills, type Victim } from "./plan-kills.ts";
import { createPrices } from "./prices.ts";
import { createReading, createReadLog } from "./reads.ts";
import { outageTable, watchMemory } from "./report.ts";
import { startSoakWorld } from "./world.ts";

const READERS = 3;
/** Between two checks: longer than a fall of the prices. */
const CHECK_MS = 6 * 60_000;
/** A round takes longer. */
const ROUNDS_PER_MINUTE = 12;

/** @throws the first fault, with the minute in which it was seen. */
export async function runSoakOfAll({ seed, minutes }: { seed: number; minutes: number }): Promise<void> {
  const world = await startSoakWorld();
  const { stack, buyers, subscriptions } = world;
  const begun = Date.now();
  const minute = () => (Date.now() - begun) / 60_000;
  const [outages, log, purchases] = [createOutages(), createReadLog(), [] as CompletedPurchase[]];
  const [dead, ended] = [new Set<Victim>(), new Map<string, number>()];
  let checked: Checked = { triggers: 0, events: 0, signed: new Map() };
  let checks = 0;

  let onFault: (fault: unknown) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    onFault = reject;
  });
  failed.catch(() => {}); // it is raced against below
  const start = (step: () => Promise<void>) => startLoop(step, onFault);
  const routes = endpoints(buyers[1]?.account.address ?? "");
  const prices = createPrices(world, seed);
  const load: Loop[] = [
    ...buyers.map((buyer, n) => start(createBuying(buyer, n, { seed, outages, purchases }))),
    ...Array.from({ length: READERS }, () => start(createReading(stack.apiUrl, routes, { log, outages }))),
    start(prices.step),
  ];
  const memory = watchMemory(world);
  const requests = () => subscriptions.reduce((sum, one) => sum + one.requests.length, 0);
  const kills = () => [...outages.durations()].map(([victim, all]) => `${victim} ${all.length}`).join(", ");
  const line = () =>
    `minute ${minute().toFixed(1)}: ${purchases.length} purchases, ${requests()} deliveries, ${checked.triggers} triggers, ` +
    `${log.total} reads (${log.notModified} not modified, ${log.refused} refused), kills: ${kills() || "none"}; MB: ${memory.line()}`;
  const others = [
    start(() => supervise(world, { outages, dead, ended })),
    start(() => sleep(10_000).then(memory.look)),
    start(() => sleep(60_000).then(() => console.log(line()))),
  ];

  async function check(): Promise<void> {
    await Promise.all(load.map((one) => one.pause()));
    await prices.rest();
    checked = await checkAll(world, { purchases, reads: log, signed: checked.signed });
    checks += 1;
    console.log(`minute ${minute().toFixed(1)}: check ${checks} passed`);
  }
  async function killAndCheck(): Promise<void> {
    let nextCheck = begun + CHECK_MS;
    for (const round of planKills(seed, Math.ceil(minutes) * ROUNDS_PER_MINUTE)) {
      if (minute() >= minutes) break;
      if (Date.now() >= nextCheck) {
        await check();
        await passAnHour(world);
        for (const one of load) one.resume();
        nextCheck = Date.now() + CHECK_MS;
      }
      await sleep(round.restMs);
      await playRound(world, round, { outages, dead });
    }
    await check();
  }
  await Promise.race([killAndCheck(), failed])
    .catch((cause: unknown) => {
      throw new Error(`minute ${minute().toFixed(1)} (SOAK_SEED=${seed}): ${String(cause)}`, { cause });
    })
    .finally(() => {
      // Not awaited: a step may take a minute, and none begins any more.
      for (const one of [...load, ...others]) void one.pause();
    });
  memory.look();
  console.log(`${line()}; ${log.excused} reads repeated for a 503 while nothing was dead`);
  console.table({
    purchases: purchases.length,
    calls: purchases.reduce(
      (sum, { answers }) => sum + answers.reduce((n, one) => n + 1 + one.retries, 0),
      0,
    ),
    "events of one subscriber": checked.events,
    deliveries: requests(),
    triggers: checked.triggers,
    reads: log.total,
    checks,
    ...Object.fromEntries(ended),
  });
  console.table(outageTable(outages.durations()));
  console.table(memory.table());
}
