/**
 * What this proves: a run of the outbox reads the events of the blocks after the last one that it has taken, however many there
 * are in the blocks that are not final; and a writer that starts continues there.
 */
import { beforeAll, expect, test } from "vitest";
import type { Outbox } from "../../workers/outbox/start.ts";
import { type EmitterChain, startEmitterChain } from "../src/support/emitter-chain.ts";
import { issueBonds, keysOf, keysOnChain } from "./support/bonds.ts";
import { type OutboxWorld, startOutboxWorld } from "./support/outbox.ts";

const alice = "0x00000000000000000000000000000000000a11ce";
const EVENTS = 600;
/** Few enough for all events to stay in blocks that are not final. */
const BLOCKS = 10;

let chain: EmitterChain;
let world: OutboxWorld;
let outbox: Outbox;

beforeAll(async () => {
  chain = await startEmitterChain();
  world = await startOutboxWorld(chain);
  await world.subscribe(alice);
  await chain.client.mine({ blocks: 1 });
  outbox = world.start();
  await world.processed();
  for (let n = 0; n < 3; n += 1) {
    await issueBonds(chain, alice, ...Array.from({ length: EVENTS / 3 }, () => 1n));
  }
  await world.processed();
});

/** The block that the outbox has taken, and how many stored events the ended sessions have read. */
async function readState() {
  const { sql } = world.connection;
  await sql`select pg_stat_force_next_flush()`;
  const [row] = await sql<{ taken: number | null; final: number; read: number }[]>`
    select o.taken_block::int as taken, o.final_block::int as final,
      (select (seq_tup_read + idx_tup_fetch)::int from pg_stat_user_tables
        where schemaname = 'service' and relname = 'event') as read
    from service.outbox o`;
  if (!row) throw new Error("the outbox has no cursor");
  return row;
}

test("blocks without events cost no reads of the events before them, also after a new start", async () => {
  const firstBlock = Number(await chain.client.getBlockNumber());
  await outbox.stop();
  const before = await readState();
  expect(before.taken).toBe(firstBlock);
  outbox = world.start();
  for (let n = 0; n < BLOCKS; n += 1) {
    await chain.client.mine({ blocks: 1 });
    await world.processed();
  }
  await outbox.stop();
  const after = await readState();
  expect(after.taken).toBe(firstBlock + BLOCKS);
  expect(after.final).toBeLessThan(firstBlock - 3);
  expect(after.read - before.read).toBeLessThan(EVENTS / 2);
});

test("an event in a block that replaces a taken one is stored, and the events of both are right", async () => {
  outbox = world.start();
  await issueBonds(chain, alice, 2n);
  await world.processed();
  await chain.client.request<{ Method: "anvil_reorg"; Parameters: [number, never[]]; ReturnType: null }>({
    method: "anvil_reorg",
    params: [2, []],
  });
  await issueBonds(chain, alice, 3n);
  await world.processed();
  const keys = await keysOnChain(chain);
  await expect.poll(async () => keysOf(await world.events())).toEqual(keys);
  const head = await chain.client.getBlockNumber();
  await expect.poll(async () => (await readState()).taken).toBe(Number(head));
});
