/**
 * Measures the cost of a purchase from its POST until it is final, less the cost of the service at rest: SQL statements, calls to the node
 * apart from reads of blocks, and CPU, by process, at few purchases a second. Then the answer time of one that is alone on a chain that
 * mines at once.
 * An indexer runs: its statements, its calls and its own CPU do not count, but Postgres' CPU is also for it.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { waitFor } from "../scripts/local/wait.ts";
import { buyAtRate, createBuyers, openBuyers, unlimited } from "./buyers.ts";
import { cpuDuring } from "./process-usage.ts";
import { openNode } from "./raw-transactions.ts";
import { type Finding, median, report } from "./report.ts";
import { type Meter, startMeter } from "./rpc.ts";
import { atEnd, type BenchStack, withBenchStack } from "./stack.ts";

const RATES = [1, 10, 50];
/** So that each phase has a count of the idle wallets, which the writer asks for as often. */
const SECONDS = 30;
const STATEMENTS = 20;
/** Eight before the 201 and two after it. */
const CALLS = 10;
/** Until all sessions have read the server's new settings, in ms. */
const RELOADED_MS = 500;
const ALONE = 30;
/** Purchases before them, while processes and connections are new. */
const WARM = 5;
const ALONE_MEDIAN_MS = 120;

/** Who sends statements under these names of connections; the queue's have none. Others are the indexer's or the benchmark's. */
const senders: readonly (readonly [who: string, names: RegExp])[] = [
  ["api", /^(api|purchase-waiter|price-proof-waiter|claim)/],
  ["writer", /^(writer|keeper)/],
  ["outbox", /^outbox/],
  ["webhooks", /^webhooks-|^webhooks$/],
  ["queue", /^(\[unknown\]|purchases|testnet)$/],
];

/** Postgres' log lines of statements, each with its connection's name before it. */
const logged = /^([^|\n]*)\|LOG: {2}(?:execute [^:]*|statement): /gm;

/** The statements in a log from a position on, by who sent them. */
function statementsSince(log: string, from: number): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [, name = ""] of readFileSync(log, "utf8").slice(from).matchAll(logged)) {
    const who = senders.find(([, names]) => names.test(name))?.[0];
    if (who) counts.set(who, (counts.get(who) ?? 0) + 1);
  }
  return counts;
}

/** Figures by process, or by process and method. */
type Use = ReadonlyMap<string, number>;
/** Figures of a phase, and its length. */
type Measured = { readonly use: Use; readonly seconds: number };
/** Statements, calls, and CPU in ms. */
type Usage = { readonly statements: Measured; readonly calls: Measured; readonly cpu: Measured };

const sum = (use: Use) => [...use.values()].reduce((total, n) => total + n, 0);

/** Divides the use of a phase, less that of the same time at rest, by its purchases. */
function findingsOf(used: Usage, rest: Usage, purchases: number): Finding[] {
  const beyond = (kind: keyof Usage) => {
    const share = used[kind].seconds / rest[kind].seconds;
    return new Map(
      [...used[kind].use].map(([name, n]) => [
        name,
        (n - share * (rest[kind].use.get(name) ?? 0)) / purchases,
      ]),
    );
  };
  const [statements, calls, cpu] = [beyond("statements"), beyond("calls"), beyond("cpu")];
  const each = (use: Use, unit: string) =>
    [...use].map(([name, value]): Finding => ({ what: `  ${name}`, value, unit }));
  return [
    { what: "SQL statements", value: sum(statements), unit: "", atMost: STATEMENTS },
    ...each(statements, ""),
    { what: "calls to the node, apart from blocks", value: sum(calls), unit: "", atMost: CALLS },
    ...each(calls, ""),
    { what: "CPU", value: sum(cpu), unit: "ms" },
    ...each(cpu, "ms"),
  ];
}

/** Waits until every purchase so far is final. */
export const untilFinal = ({ sql }: Pick<BenchStack, "sql">) =>
  waitFor({
    what: "all purchases to be final",
    probe: async () => {
      const open = await sql`select 1 from service.purchase_progress where final_at is null limit 1`;
      return open.length === 0 || undefined;
    },
    timeoutMs: 300_000,
    intervalMs: 500,
  });

export const benchPurchaseCost = (): Promise<void> =>
  withBenchStack({ postgres: { log_line_prefix: "%a|" } }, async (stack) => {
    const node = openNode(stack.chain.url, 100);
    await atEnd(node.close);
    const buyers = await createBuyers(stack, node);
    const meters = {
      api: await startMeter(stack.chain.url),
      writer: await startMeter(stack.chain.url),
    } satisfies Record<string, Meter>;
    const services = await stack.startServices(["indexer", "writer", "api"], {
      more: {
        api: { ...unlimited.api, RPC_URL: meters.api.url },
        writer: { ...unlimited.writer, RPC_URL: meters.writer.url },
      },
    });
    const buy = await openBuyers(services, buyers, 100);
    const log = join(stack.folder, "postgres.log");
    const measured = [...stack.processes].filter(([name]) => name !== "anvil" && name !== "indexer");

    async function logStatements(which: "all" | "none"): Promise<void> {
      await stack.sql.unsafe(`alter system set log_statement = '${which}'`);
      await stack.sql`select pg_reload_conf()`;
      await sleep(RELOADED_MS);
    }
    async function timed(run: () => Promise<unknown>): Promise<number> {
      const began = performance.now();
      await run();
      return (performance.now() - began) / 1000;
    }
    /** Runs `run` twice, because the log in which statements are counted costs CPU. */
    async function usageOf(run: () => Promise<unknown>): Promise<Usage> {
      let seconds = 0;
      const cpuUse = await cpuDuring(measured, async () => {
        seconds = await timed(run);
      });
      const cpu = { use: cpuUse, seconds };
      await logStatements("all");
      const from = readFileSync(log, "utf8").length;
      for (const { calls } of Object.values(meters)) calls.clear();
      seconds = await timed(run);
      const calls = new Map<string, number>();
      for (const [name, meter] of Object.entries(meters))
        for (const [method, n] of meter.calls)
          if (method !== "eth_getBlockByNumber") calls.set(`${name} ${method}`, n);
      const statements = statementsSince(log, from);
      await logStatements("none");
      return { statements: { use: statements, seconds }, calls: { use: calls, seconds }, cpu };
    }

    let bought = 0;
    const times: number[] = [];
    for (; bought < WARM + ALONE; bought += 1) {
      const { ms } = await buy(bought, true);
      if (bought >= WARM) times.push(ms);
      await sleep(300);
    }
    report("purchases: alone, each mined at once", [
      { what: "201, median", value: median(times), unit: "ms", atMost: ALONE_MEDIAN_MS },
    ]);
    await node.ask("evm_setIntervalMining", [2]);
    const buyFor = async (seconds: number, rate: number) => {
      const first = bought;
      bought += seconds * rate;
      await buyAtRate(buy, first, seconds * rate, rate);
      await untilFinal(stack);
    };
    await buyFor(4, 5); // warms everything up
    const rest = await usageOf(() => sleep(SECONDS * 1000));
    const aSecond = ({ use, seconds }: Measured) => sum(use) / seconds;
    report("purchases: a second at rest, a block every 2 s", [
      { what: "SQL statements", value: aSecond(rest.statements), unit: "" },
      { what: "calls to the node, apart from blocks", value: aSecond(rest.calls), unit: "" },
      { what: "CPU", value: aSecond(rest.cpu), unit: "ms" },
    ]);
    for (const rate of RATES) {
      const findings = findingsOf(await usageOf(() => buyFor(SECONDS, rate)), rest, SECONDS * rate);
      report(`purchases: each of ${rate} a second, beyond what is used at rest`, findings);
    }
  });
