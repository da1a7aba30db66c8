/** Signed transactions, fired straight at a node: what the chain itself can do. */
import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";
import type { Address, Hex, LocalAccount } from "viem";
import { z } from "zod";

/** Between two looks at what is mined, in ms. */
const LOOK_MS = 20;
/** Anvil loses some of a burst; bytes that are in no block for this time are sent once more, in ms. */
const SEND_AGAIN_MS = 4000;
const answer = z.object({
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional(),
});

export type Node = {
  /** @throws with the node's message when it refuses. */
  readonly ask: (method: string, params: readonly unknown[]) => Promise<unknown>;
  readonly close: () => Promise<void>;
};

/** A node asked over so many connections, one call in each request. */
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

/** The number of a wallet's mined transactions. */
export const minedOf = async (node: Node, wallet: Address): Promise<number> =>
  Number(await node.ask("eth_getTransactionCount", [wallet, "latest"]));

export type Call = { readonly to: Address; readonly data: Hex; readonly gas: bigint };

/** Signs the calls for the wallet's nonces from `first` on. */
export function signCalls(
  account: LocalAccount,
  chainId: number,
  first: number,
  calls: readonly Call[],
): Promise<Hex[]> {
  const fees = { maxFeePerGas: 50_000_000_000n, maxPriorityFeePerGas: 1_000_000n };
  return Promise.all(
    calls.map((call, index) =>
      account.signTransaction({ type: "eip1559", chainId, nonce: first + index, ...call, ...fees }),
    ),
  );
}

/** Resolves once the wallets have so many mined transactions together. @throws after `timeoutMs`. */
export async function untilMined(
  node: Node,
  wallets: readonly Address[],
  count: number,
  timeoutMs: number,
  whileWaiting: () => Promise<void> = async () => {},
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const mined = await Promise.all(wallets.map((wallet) => minedOf(node, wallet)));
    const sum = mined.reduce((a, b) => a + b, 0);
    if (sum >= count) return;
    if (performance.now() > deadline) throw new Error(`${sum} of ${count} transactions were mined in time`);
    await whileWaiting();
    await sleep(LOOK_MS);
  }
}

/**
 * Sends all bytes, in their order and as fast as the connections carry them, and waits until all are mined.
 * @returns the seconds from the first call to the block of the last transaction.
 */
export async function fire(node: Node, wallets: readonly Address[], signed: readonly Hex[]): Promise<number> {
  const before = await Promise.all(wallets.map((wallet) => minedOf(node, wallet)));
  const goal = before.reduce((a, b) => a + b, 0) + signed.length;
  const started = performance.now();
  // What the node has already it refuses, which is no fault here.
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
