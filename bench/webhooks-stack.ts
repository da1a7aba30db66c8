/** The stack for the webhooks benchmark: indexer and writer, a chain that mines on command, and a receiver. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Sql } from "postgres";
import { Pool } from "undici";
import type { Address, LocalAccount } from "viem";
import { z } from "zod";
import { protocolTokenAbi } from "../abis/ProtocolToken.ts";
import { DEV_SECRETS_KEY } from "../lib/off-local.ts";
import type { EventType } from "../lib/webhooks/events.ts";
import { createSealer, newSecret } from "../lib/webhooks/secrets.ts";
import { freePorts } from "../scripts/local/ports.ts";
import { startProcess } from "../scripts/local/processes.ts";
import type { Protocol } from "../scripts/local/protocol/actions/index.ts";
import { waitFor } from "../scripts/local/wait.ts";
import type { BenchStack } from "./bench-stack.ts";
import { call, type Miner, takeOverMining } from "./miner.ts";

/** Ponder counts the newest blocks as not final yet; events in older ones are read once. */
const UNFINALISED_BLOCKS = 32;

const kinds = ["good", "bad", "hang"] as const;
type Kind = (typeof kinds)[number];

const countsShape = z.object({
  total: z.number(),
  paths: z.number(),
  least: z.number(),
  first: z.number(),
  middle: z.number(),
  last: z.number(),
});
/** Deliveries to the good targets: in total, the number of targets, the fewest to one target; times in ms since the epoch. */
export type Counts = z.output<typeof countsShape>;

export type WebhooksStack = {
  readonly protocol: Protocol;
  readonly miner: Miner;
  readonly sql: Sql;
  /** URLs of targets that answer 200 (good), answer 500 (bad) or do not answer (hang); each kind has its own port. */
  readonly targets: (kind: Kind, count: number) => string[];
  readonly owner: LocalAccount;
  readonly writerPid: number;
  readonly stopIndexer: () => Promise<void>;
  /** Replaces all subscriptions by new ones, one per URL, of the n-th URL's wallet. */
  readonly subscribe: (
    urls: readonly string[],
    walletOf: (n: number) => Address,
    event: EventType,
  ) => Promise<void>;
  /** Mines a block of `count` burns. Every subscription receives each of them. */
  readonly burn: (count: number) => Promise<void>;
  /** Sets the receiver's counts back to zero. */
  readonly resetCounts: () => Promise<void>;
  /** Waits until the good targets have received `total` deliveries, and each of them an equal share. */
  readonly delivered: (total: number, targets: number) => Promise<Counts>;
  readonly counts: () => Promise<Counts>;
  /** Waits until every delivery has been attempted. */
  readonly allAttempted: () => Promise<void>;
};

export async function prepareWebhooks(stack: BenchStack): Promise<WebhooksStack> {
  const { protocol, sql, owner, folder, atEnd } = stack;
  const { chainId, contracts } = protocol.deployment;
  const miner = await takeOverMining(protocol);
  for (let block = 0; block < UNFINALISED_BLOCKS; block += 1) await miner.mine([]);

  const ports = await freePorts(kinds.length);
  const program = fileURLToPath(new URL("./webhooks-receiver.ts", import.meta.url));
  const receiver = await startProcess({
    name: "receiver",
    command: process.execPath,
    args: ["--import", "tsx", program, ...ports.map(String)],
    logFile: join(folder, "receiver.log"),
  });
  atEnd(receiver.stop);
  const originOf = (kind: Kind) => `http://127.0.0.1:${ports[kinds.indexOf(kind)]}`;
  const pool = new Pool(originOf("good"), { connections: 1 });
  atEnd(() => pool.destroy());

  const services = await stack.startServices(["indexer"]);
  const writer = await services.start("writer");
  const ask = async (path: string): Promise<string> => {
    const { body } = await pool.request({ method: "GET", path });
    return body.text();
  };
  const counts = async () => countsShape.parse(JSON.parse(await ask("/counts")));

  return {
    protocol,
    miner,
    sql,
    targets: (kind, count) => Array.from({ length: count }, (_, n) => `${originOf(kind)}/${kind}/${n}`),
    owner,
    writerPid: writer.pid,
    stopIndexer: () => services.stopService("indexer"),
    counts,
    async subscribe(urls, walletOf, event) {
      const sealer = createSealer(DEV_SECRETS_KEY);
      const newest = Number(await miner.newest());
      await sql`delete from service.webhook`;
      const rows = urls.map((url, n) => {
        const wallet = walletOf(n).toLowerCase();
        return {
          ...{ chain_id: chainId, wallet, url, secret: sealer.seal(newSecret(), wallet) },
          from_block: newest,
        };
      });
      await sql`
        insert into service.webhook (chain_id, wallet, url, events, secret, from_block, processed_block, processed_event)
        select r.chain_id, r.wallet, r.url, array[${event}::text], r.secret, r.from_block,
          coalesce((select processed_block from service.outbox where chain_id = r.chain_id), -1),
          (select coalesce(max(seq), 0) from service.event)
        from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb)
          as r (chain_id int, wallet text, url text, secret text, from_block bigint)`;
    },
    burn: (count) =>
      miner.mine(
        Array.from({ length: count }, (_, n) =>
          call(owner, contracts.protocolToken, protocolTokenAbi, "burn", BigInt(n + 1)),
        ),
      ),
    resetCounts: async () => void (await ask("/reset")),
    delivered: (total, targets) =>
      waitFor({
        what: `${total} deliveries`,
        probe: async () => {
          const now = await counts();
          return now.total >= total && now.paths === targets && now.least >= Math.floor(total / targets)
            ? now
            : undefined;
        },
        timeoutMs: 300_000,
      }),
    allAttempted: () =>
      waitFor({
        what: "all deliveries to be attempted",
        probe: async () => {
          const open = await sql`
            select 1 from service.delivery where state = 'pending' and failures = 0 and attempts = '[]' limit 1`;
          return open.length === 0 || undefined;
        },
        intervalMs: 250,
      }).then(() => {}),
  };
}
