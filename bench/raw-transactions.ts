/** Sends signed transactions to a node directly, to measure the chain's own throughput. */
import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";
import type { Address, Hex, LocalAccount } from "viem";
import { z } from "zod";

/** Between two reads of the mined nonces, in ms. */
const POLL_MS = 20;
/** Anvil loses some transactions of a burst; after this time without a block, in ms, all are sent again. */
const SEND_AGAIN_MS = 4000;
const answer = z.object({
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional(),
});

export type Node = {
  /** @throws with the node's message when it answers with an error. */
  readonly ask: (method: string, params: readonly unknown[]) => Promise<unknown>;
  readonly close: () => Promise<void>;
};

/** A JSON-RPC client with a pool of connections; each request carries one call. */
export function openNode(url: string, connections: number): Node {
  const pool = new Pool(url, { connections, pipelining: 1 });
  return {
    async ask(method, params) {
      const { body } = await pool.request({
        method: "POST",
        path: "/",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      });
      const { result, error } = answer.parse(await body.json());
      if (error) throw new Error(`${method}: ${error.message}`);
      return result;
    },
    close: () => pool.close(),
  };
}

/** The number of mined transactions of these wallets together. */
export async function minedOf(node: Node, wallets: readonly Address[]): Promise<number> {
  const counts = await Promise.all(
    wallets.map((wallet) => node.ask("eth_getTransactionCount", [wallet, "latest"])),
  );
  return counts.reduce<number>((sum, count) => sum + Number(count), 0);
}

type Call = { readonly to: Address; readonly data: Hex; readonly gas: bigint };

/** Signs the calls for the wallet's next nonces. */
export async function signCalls(
  node: Node,
  account: LocalAccount,
  chainId: number,
  calls: readonly Call[],
): Promise<Hex[]> {
  const first = await minedOf(node, [account.address]);
  const fees = { maxFeePerGas: 50_000_000_000n, maxPriorityFeePerGas: 1_000_000n };
  return Promise.all(
    calls.map((call, index) =>
      account.signTransaction({ type: "eip1559", chainId, nonce: first + index, ...call, ...fees }),
    ),
  );
}

/** Waits until the wallets together have `count` mined transactions. @throws after `timeoutMs`. */
export async function untilMined(
  node: Node,
  wallets: readonly Address[],
  count: number,
  timeoutMs: number,
  whileWaiting: () => Promise<void> = async () => {},
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const mined = await minedOf(node, wallets);
    if (mined >= count) return;
    if (performance.now() > deadline) throw new Error(`only ${mined} of ${count} were mined in time`);
    await whileWaiting();
    await sleep(POLL_MS);
  }
}

/**
 * Sends the signed transactions in order, as fast as the connections allow, and waits until all are mined.
 * @returns the seconds from the first call to the block of the last transaction.
 */
export async function sendAndMine(
  node: Node,
  wallets: readonly Address[],
  signed: readonly Hex[],
): Promise<number> {
  const goal = (await minedOf(node, wallets)) + signed.length;
  const started = performance.now();
  // The node rejects transactions that it already has, so rejections are ignored.
  const sendAll = () =>
    Promise.allSettled(signed.map((bytes) => node.ask("eth_sendRawTransaction", [bytes])));
  await sendAll();
  let sentAt = performance.now();
  await untilMined(node, wallets, goal, 120_000, async () => {
    if (performance.now() - sentAt < SEND_AGAIN_MS) return;
    await sendAll();
    sentAt = performance.now();
  });
  return (performance.now() - started) / 1000;
}
