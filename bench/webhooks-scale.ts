/**
 * Webhooks at scale: many subscriptions, each of a wallet of its own, and a steady stream of events through outbox and
 * deliveries with one Postgres. The benchmark writes the index's rows itself, block by block, as Ponder would: what the index
 * costs is measured by `bench index`. Each stage's lag and CPU time show which one gives way first. The bare loop posts the
 * same bodies to the same receiver. Sizes for a quick run: `BENCH_SUBSCRIPTIONS`, `BENCH_EVENTS_PER_SECOND` and `BENCH_SECONDS`.
 */
import { cpus } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { type Address, numberToHex, pad } from "viem";
import { z } from "zod";
import { HOST_CONCURRENCY } from "../workers/webhooks/dispatcher.ts";
import { postBare } from "./bare-post-loop.ts";
import { type BenchStack, withBenchStack } from "./bench-stack.ts";
import { cpuSecondsOf } from "./process-usage.ts";
import { type Finding, median, percentile, report } from "./report.ts";
import { prepareWebhooks, type WebhooksStack } from "./webhooks-stack.ts";

const sizes = z
  .object({
    BENCH_SUBSCRIPTIONS: z.coerce.number().default(100_000),
    BENCH_EVENTS_PER_SECOND: z.coerce.number().default(1000),
    BENCH_SECONDS: z.coerce.number().default(30),
  })
  .parse(process.env);
const SUBSCRIPTIONS = sizes.BENCH_SUBSCRIPTIONS;
/** The block time of the production network. */
const BLOCK_MS = 2000;
const EVENTS_OF_BLOCK = (sizes.BENCH_EVENTS_PER_SECOND * BLOCK_MS) / 1000;
const BLOCKS = Math.ceil((sizes.BENCH_SECONDS * 1000) / BLOCK_MS);
/** Blocks that stay unfinal, as on the production network. */
const UNFINAL = 30;
/** The blocks of the burst, which are mined one right after the other. */
const BURST_BLOCKS = 5;
const POLL_MS = 100;
/** Aim: deliveries a second from block to receiver, as a share of the bare loop's. */
const OF_BARE = 0.4;

/** The first hundred addresses have other uses. */
const FIRST_WALLET = 100;
/** The wallet of a subscription. */
const walletOf = (n: number): Address => pad(numberToHex(FIRST_WALLET + n), { size: 20 });

/** How many events each stage has behind it. */
type Progress = { readonly stored: number; readonly delivered: number };

const progressRow = z.object({ stored: z.number() });

type Scale = WebhooksStack & {
  /** Mines a block, and writes its events to the index, each for the next wallet. */
  readonly issue: (events: number) => Promise<void>;
  readonly progress: () => Promise<Progress>;
  readonly cpu: () => Map<string, number>;
};

async function prepare(bench: BenchStack): Promise<Scale> {
  const stack = await prepareWebhooks(bench);
  const { sql, counts, miner } = stack;
  await stack.stopIndexer();
  let issued = 0;

  /** Writes a block's rows in one transaction, without the triggers with which Ponder could revert them. */
  async function index(events: number): Promise<void> {
    const { number, hash, timestamp } = await bench.protocol.client.getBlock();
    await sql.begin(async (tx) => {
      await tx`set local session_replication_role = replica`;
      await tx`
        insert into indexer.bond_issue (block_number, log_index, block_hash, block_timestamp, tx_hash, holder, epoch_id,
          usd_amount)
        select ${String(number)}::numeric, n, ${hash}, ${String(timestamp)}::numeric, ${hash},
          '0x' || lpad(to_hex(${FIRST_WALLET} + (${issued} + n) % ${SUBSCRIPTIONS}), 40, '0'), 202812, 1
        from generate_series(0, ${events - 1}::int) n`;
      await tx`
        update indexer.head set number = ${String(number)}::numeric, hash = ${hash}, timestamp = ${String(timestamp)}::numeric`;
      // A checkpoint has the block's number in 16 digits after 26 others.
      await tx`
        update indexer._ponder_checkpoint set finalized_checkpoint =
          overlay(finalized_checkpoint placing lpad(${String(number - BigInt(UNFINAL))}, 16, '0') from 27)`;
      await tx`select pg_notify('indexer_live_query', '')`;
    });
    issued += events;
  }

  return {
    ...stack,
    async issue(events) {
      await miner.mine([]);
      await index(events);
    },
    async progress() {
      const [[row], { total: delivered }] = await Promise.all([
        sql`select count(*)::int as stored from service.event where type = 'bond_minted'`,
        counts(),
      ]);
      return { ...progressRow.parse(row), delivered };
    },
    cpu: () => cpuSecondsOf([...bench.processes].map(([name, pid]) => ({ name, pid }))),
  };
}

/** When each stage had its n-th event, from samples; a sample's events count as of its time. */
type Sample = Progress & { readonly at: number };

/** Samples the stages' progress until `total` events are delivered. */
async function sampleUntil(scale: Scale, total: number): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  for (;;) {
    samples.push({ ...(await scale.progress()), at: Date.now() });
    if ((samples.at(-1)?.delivered ?? 0) >= total) return samples;
    await sleep(POLL_MS);
  }
}

const stages = ["stored", "delivered"] as const;

/** CPU for each event, and what gives way first: the process that needs most, if each has a core of its own. */
function cpuFindings(used: readonly { readonly name: string; readonly micros: number }[]): Finding[] {
  const [most] = used.toSorted((a, b) => b.micros - a.micros);
  return [
    ...used.map(({ name, micros }) => ({
      what: `CPU of ${name}, for each event`,
      value: micros,
      unit: "µs",
    })),
    ...(most && most.micros > 0
      ? [{ what: `${most.name} gives way first: on one core after`, value: 1e6 / most.micros, unit: "/s" }]
      : []),
  ];
}

/** A steady stream of blocks: the lag of each stage behind the blocks, and its CPU time. */
async function measureStream(scale: Scale): Promise<Finding[]> {
  await scale.resetCounts();
  const begin = await scale.progress();
  const cpuBefore = scale.cpu();
  const minedAt: number[] = [];
  const sampling = sampleUntil(scale, BLOCKS * EVENTS_OF_BLOCK);
  const began = Date.now();
  for (let block = 0; block < BLOCKS; block += 1) {
    await sleep(Math.max(0, began + block * BLOCK_MS - Date.now()));
    await scale.issue(EVENTS_OF_BLOCK);
    minedAt.push(Date.now());
  }
  const samples = await sampling;
  const cpuAfter = scale.cpu();
  const lags = (stage: (typeof stages)[number]) =>
    minedAt.map((at, block) => {
      const goal = (stage === "delivered" ? 0 : begin[stage]) + (block + 1) * EVENTS_OF_BLOCK;
      return (samples.find((sample) => sample[stage] >= goal)?.at ?? at) - at;
    });
  const events = BLOCKS * EVENTS_OF_BLOCK;
  const seconds = ((samples.at(-1)?.at ?? began) - began) / 1000;
  return [
    {
      what: "events indexed a second",
      value: events / ((minedAt.at(-1) ?? began) / 1000 - began / 1000),
      unit: "/s",
    },
    { what: "delivered a second, to the last one", value: events / seconds, unit: "/s" },
    ...stages.flatMap((stage) => [
      { what: `a whole block ${stage} after, median`, value: median(lags(stage)), unit: "ms" },
      { what: `a whole block ${stage} after, the most`, value: percentile(lags(stage), 100), unit: "ms" },
    ]),
    ...cpuFindings(
      [...cpuAfter].map(([name, after]) => ({
        name,
        micros: ((after - (cpuBefore.get(name) ?? 0)) * 1e6) / events,
      })),
    ),
  ];
}

/** Blocks right after one another: the rate from the first block to the last delivery, against the bare loop. */
async function measureBurst(scale: Scale, urls: readonly string[]): Promise<Finding[]> {
  const events = BURST_BLOCKS * EVENTS_OF_BLOCK;
  await scale.resetCounts();
  const began = Date.now();
  for (let block = 0; block < BURST_BLOCKS; block += 1) await scale.issue(EVENTS_OF_BLOCK);
  await sampleUntil(scale, events);
  const { last } = await scale.counts();
  const [row] = await scale.sql<{ body: string }[]>`select body from service.event order by seq desc limit 1`;
  await scale.resetCounts();
  const cpu = process.cpuUsage();
  await postBare(urls.slice(0, events), [row?.body ?? ""], HOST_CONCURRENCY.regular);
  const { user, system } = process.cpuUsage(cpu);
  const bare = await scale.counts();
  const base = (1000 * bare.total) / Math.max(1, bare.last - bare.first);
  return [
    { what: "a bare loop that posts the same bodies", value: base, unit: "/s" },
    { what: "  its CPU, for each of them", value: (user + system) / bare.total, unit: "µs" },
    {
      what: `${events} events at once, from their blocks`,
      value: (1000 * events) / (last - began),
      unit: "/s",
      compared: { with: base, least: OF_BARE },
    },
  ];
}

export const benchWebhooksAtScale = (): Promise<void> =>
  withBenchStack({}, async (bench) => {
    const scale = await prepare(bench);
    const urls = scale.targets("good", SUBSCRIPTIONS);
    await scale.subscribe(urls, walletOf, "bond_minted");
    const about = `${SUBSCRIPTIONS} subscriptions, ${cpus().length} cores`;
    report(`webhooks at scale: ${about}, blocks of ${EVENTS_OF_BLOCK} events`, await measureStream(scale));
    report(`webhooks at scale: a burst, ${about}`, await measureBurst(scale, urls));
  });
