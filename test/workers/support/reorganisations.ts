/** An outbox on a chain of event emitters, behind a proxy of the node, for tests that reorganise the chain. */
import type { Address, Hex } from "viem";
import { expect } from "vitest";
import { startEmitterChain } from "../../src/support/emitter-chain.ts";
import { startRpcProxy } from "../../support/rpc-proxy.ts";
import { issueBonds } from "./bonds.ts";
import { startOutboxWorld } from "./outbox.ts";

export const alice: Address = "0x00000000000000000000000000000000000a11ce";

/**
 * Starts chain, indexer and outbox, with one subscription of Alice. `holdMs` is the longest time that the outbox holds new
 * events back for a reversal.
 */
export async function startReorgWorld({ holdMs: usualHoldMs = 3000 } = {}) {
  const chain = await startEmitterChain();
  const { client } = chain;
  const proxy = await startRpcProxy(chain.url);
  const world = await startOutboxWorld(chain);
  const subscription = await world.subscribe(alice);
  const mine = (blocks = 1) => client.mine({ blocks });
  const newOutbox = (holdMs = usualHoldMs) => world.start({ rpcUrl: proxy.url, holdMs });
  await mine();
  let outbox = newOutbox();
  await world.processed();
  /** The newest `seq` of earlier tests. */
  let since = 0;

  const newEvents = async () => (await world.events()).filter(({ seq }) => seq > since);
  const untilEvents = (count: number, read = newEvents) => expect.poll(read).toHaveLength(count);
  return {
    ...{ ...world, chain, proxy, subscription, mine, newEvents, untilEvents },
    stopOutbox: () => outbox.stop(),
    /** Starts another one, after `stopOutbox`. */
    startOutbox(holdMs?: number): void {
      outbox = newOutbox(holdMs);
    },
    since: () => since,
    /** Before each test: an earlier one, above all one that failed, may have left events to process. */
    async beginTest() {
      proxy.intercept();
      await world.processed();
      since = (await world.events()).at(-1)?.seq ?? 0;
    },
    newDeliveries: async (webhookId: number) =>
      (await world.deliveries()).filter(
        (delivery) => delivery.webhookId === webhookId && delivery.seq > since,
      ),
    /** Issues a bond of so many dollars, in a block of its own. */
    issueBond: (usdAmount: bigint) => issueBonds(chain, alice, usdAmount),
    rawTransaction: (hash: Hex) =>
      client.request<{ Method: "eth_getRawTransactionByHash"; Parameters: [Hex]; ReturnType: Hex }>({
        method: "eth_getRawTransactionByHash",
        params: [hash],
      }),
    /**
     * Replaces the newest blocks by others with these transactions, and waits until the index has them. The index has the
     * old ones before: when a block disappears while Ponder reads it, Ponder asks for it for a minute.
     */
    async reorganise(depth: number, transactions: readonly [Hex, number][] = []): Promise<void> {
      await world.rows.caughtUp(client);
      await client.request<{ Method: "anvil_reorg"; Parameters: [number, unknown]; ReturnType: null }>({
        method: "anvil_reorg",
        params: [depth, transactions],
      });
      await mine();
      await world.rows.caughtUp(client);
    },
    /** Marks the new pending deliveries as a writer does before it sends them: the subscriber may have the event. */
    markAsSent: () =>
      world.connection
        .sql`update service.delivery set taken_at = now() where event_seq > ${since} and state = 'pending'`,
    untilReverted: (count = 1) =>
      untilEvents(count, async () => (await newEvents()).filter(({ reverted }) => reverted)),
  };
}

export type ReorgWorld = Awaited<ReturnType<typeof startReorgWorld>>;
