/** What deliveries are measured on: indexer and writer as real processes, Postgres, a chain, and a receiver. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Pool } from "undici";
import type { Address, LocalAccount } from "viem";
import { z } from "zod";
import { protocolTokenAbi } from "../abis/ProtocolToken.ts";
import { anvilAccount } from "../lib/chain/client.ts";
import { DEV_SECRETS_KEY } from "../lib/config.ts";
import { type Connection, connect } from "../lib/db/connect.ts";
import type { EventType } from "../lib/webhooks/events.ts";
import { createSealer, newSecret } from "../lib/webhooks/secrets.ts";
import { type ServiceName, type StackSettings, serviceReady, startService } from "../scripts/dev/services.ts";
import { privateKeyOf, startAnvil } from "../scripts/local/anvil.ts";
import { freePorts } from "../scripts/local/ports.ts";
import { startPostgres } from "../scripts/local/postgres.ts";
import { startProcess } from "../scripts/local/processes.ts";
import { openProtocol, type Protocol } from "../scripts/local/protocol/actions/index.ts";
import { deployProtocol } from "../scripts/local/protocol/deploy.ts";
import { waitFor } from "../scripts/local/wait.ts";
import { call, type Miner, takeOverMining } from "./miner.ts";

const CHAIN_ID = 8453;
/** Blocks that Ponder counts as not final yet: what lies below is read once and for all. */
const FINAL = 32;
const DELIVERED_WITHIN_MS = 300_000;
const LOOK_MS = 50;

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
/** What the good targets have got: in total, how many of them, the least of any; times in ms since the epoch. */
export type Counts = z.output<typeof countsShape>;

export type WebhooksStack = {
  readonly protocol: Protocol;
  readonly miner: Miner;
  readonly connection: Connection;
  /** Addresses of targets that answer 200, answer 500, or do not answer; each kind has a port of its own. */
  readonly targets: (kind: Kind, count: number) => string[];
  readonly owner: LocalAccount;
  readonly writerPid: () => number;
  /** Replaces all subscriptions by ones of the wallet to these addresses. */
  readonly subscribe: (urls: readonly string[], wallet: Address, event: EventType) => Promise<void>;
  /** A block of so many burns: each is an event for every subscription. */
  readonly burn: (count: number) => Promise<void>;
  /** The receiver forgets what it has got. */
  readonly forget: () => Promise<void>;
  /** Waits until the good targets have got so many together, and each of them its share. */
  readonly delivered: (total: number, targets: number) => Promise<Counts>;
  readonly counts: () => Promise<Counts>;
  /** Nothing is on its way, as far as the receivers answer. */
  readonly atRest: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

export type WebhooksStackOptions = {
  /** Options for the writer's Node, such as those of a profiler. */
  readonly writerNodeOptions?: string;
};

export async function startWebhooksStack(options: WebhooksStackOptions = {}): Promise<WebhooksStack> {
  const folder = mkdtempSync(join(tmpdir(), "bench-webhooks-"));
  const [postgresPort = 0, anvilPort = 0, apiPort = 0, ponderPort = 0, metricsPort = 0, ...receiverPorts] =
    await freePorts(5 + kinds.length);
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const end of stops.splice(0).toReversed()) await end();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const server = await startPostgres({
      dataDir: join(folder, "postgres"),
      port: postgresPort,
      logFile: join(folder, "postgres.log"),
    });
    stops.push(() => server.remove());
    const anvil = await startAnvil({
      chainId: CHAIN_ID,
      port: anvilPort,
      logFile: join(folder, "anvil.log"),
    });
    stops.push(() => anvil.stop());
    const [owner, relayer] = [anvilAccount(0), anvilAccount(1)];
    const deployment = await deployProtocol({
      rpcUrl: anvil.url,
      chainId: CHAIN_ID,
      name: "Bench",
      owner,
      relayers: [relayer.address],
      local: true,
      retired: false,
    });
    const deploymentFile = join(folder, "deployment.json");
    writeFileSync(deploymentFile, JSON.stringify(deployment));
    const protocol = openProtocol(deployment, anvil.url);
    const miner = await takeOverMining(protocol);
    for (let block = 0; block < FINAL; block += 1) await miner.mine([]);

    const receiver = await startProcess({
      name: "receiver",
      command: process.execPath,
      args: [
        "--import",
        "tsx",
        fileURLToPath(new URL("./webhooks-receiver.ts", import.meta.url)),
        ...receiverPorts.map(String),
      ],
      logFile: join(folder, "receiver.log"),
    });
    stops.push(() => receiver.stop());
    const originOf = (kind: Kind) => `http://127.0.0.1:${receiverPorts[kinds.indexOf(kind)]}`;
    const pool = new Pool(originOf("good"), { connections: 1 });
    stops.push(() => pool.destroy());

    const settings: StackSettings = {
      databaseUrl: server.url,
      rpcUrl: anvil.url,
      rpcWsUrl: "",
      deploymentFile,
      redisUrl: undefined,
      host: "127.0.0.1",
      apiPort,
      ponderPort,
      metricsPort,
      adminToken: "bench-admin-token",
      relayerKeys: [privateKeyOf(relayer)],
      logLevel: "info",
      more: { writer: options.writerNodeOptions ? { NODE_OPTIONS: options.writerNodeOptions } : {} },
    };
    const services: readonly ServiceName[] = ["indexer", "writer"];
    const [, writer] = await Promise.all(
      services.map(async (name) => {
        const child = await startService(name, settings, folder);
        stops.push(() => child.stop());
        await serviceReady(child, name, settings);
        return child;
      }),
    );
    if (!writer) throw new Error("no writer was started");
    const connection = connect(server.url, { name: "bench", max: 2, statementTimeout: 120_000 });
    stops.push(() => connection.close());
    const { sql } = connection;

    const ask = async (path: string): Promise<string> => {
      const { body } = await pool.request({ method: "GET", path });
      return body.text();
    };
    const counts = async () => countsShape.parse(JSON.parse(await ask("/counts")));

    return {
      protocol,
      miner,
      connection,
      targets: (kind, count) => Array.from({ length: count }, (_, n) => `${originOf(kind)}/${kind}/${n}`),
      owner,
      writerPid: () => writer.pid,
      counts,
      async subscribe(urls, address, event) {
        const wallet = address.toLowerCase();
        const sealer = createSealer(DEV_SECRETS_KEY);
        const newest = Number(await miner.newest());
        await sql`delete from service.webhook`;
        const rows = urls.map((url) => ({
          chain_id: CHAIN_ID,
          wallet,
          url,
          secret: sealer.seal(newSecret(), wallet),
          from_block: newest,
        }));
        await sql`
          insert into service.webhook (chain_id, wallet, url, events, secret, from_block, passed_block, passed_event)
          select r.chain_id, r.wallet, r.url, array[${event}::text], r.secret, r.from_block,
            coalesce((select passed_block from service.outbox where chain_id = r.chain_id), -1),
            (select coalesce(max(seq), 0) from service.event)
          from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb)
            as r (chain_id int, wallet text, url text, secret text, from_block bigint)`;
      },
      burn: (count) =>
        miner.mine(
          Array.from({ length: count }, (_, n) =>
            call(owner, deployment.contracts.protocolToken, protocolTokenAbi, "burn", BigInt(n + 1)),
          ),
        ),
      forget: async () => void (await ask("/forget")),
      delivered: (total, targets) =>
        waitFor({
          what: `${total} deliveries`,
          probe: async () => {
            const now = await counts();
            return now.total >= total && now.paths === targets && now.least >= Math.floor(total / targets)
              ? now
              : undefined;
          },
          timeoutMs: DELIVERED_WITHIN_MS,
          intervalMs: LOOK_MS,
        }),
      atRest: () =>
        waitFor({
          what: "nothing to be under way",
          probe: async () => {
            const open = await sql`
              select 1 from service.delivery where state = 'pending' and failures = 0 and attempts = '[]' limit 1`;
            return open.length === 0 || undefined;
          },
          timeoutMs: 60_000,
          intervalMs: 250,
        }).then(() => {}),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
