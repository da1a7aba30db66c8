/** A crash of the price of BTC, and what the keeper does about it, read from the chain alone. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Address, getAbiItem, isAddressEqual, type TransactionReceipt } from "viem";
import { coverRouterAbi } from "../abis/CoverRouter.ts";
import { latestRound, type Protocol, pushPrice } from "../scripts/local/protocol/actions/index.ts";
import { serviceWallets } from "../scripts/local/service-wallets.ts";
import type { BenchStack } from "./bench-stack.ts";

/** The part of its price that BTC keeps, in percent: every product on BTC is triggered by less. */
const KEPT = 70n;
const ROUNDS = 3;
/** Between two looks at the newest block, in ms. */
const BLOCK_POLL_MS = 20;
/** Between two reads of the triggers, in ms. */
const TRIGGER_POLL_MS = 250;

const submitted = getAbiItem({ abi: coverRouterAbi, name: "TriggerSubmitted" });

/** The trigger of one policy: seconds since the third round, by a clock that saw both blocks and by the blocks' timestamps. */
export type Trigger = { readonly seconds: number; readonly chainSeconds: number };

export type Crash = {
  /** One per triggered policy, in the order of the chain. */
  readonly triggers: readonly Trigger[];
  /** All transactions that the keeper sent meanwhile, those without a trigger too. */
  readonly receipts: readonly TransactionReceipt[];
};

/** Notes when each block appears, in ms of `performance.now()`. */
function watchBlocks({ client }: Protocol) {
  const seen = new Map<bigint, number>();
  let newest: bigint | undefined;
  let stopped = false;
  const watching = (async () => {
    while (!stopped) {
      const number = await client.getBlockNumber();
      const now = performance.now();
      for (let block = newest === undefined ? number : newest + 1n; block <= number; block++)
        seen.set(block, now);
      newest = number;
      await sleep(BLOCK_POLL_MS);
    }
  })();
  return {
    seenAt(block: bigint): number {
      const time = seen.get(block);
      if (time === undefined) throw new Error(`nobody watched block ${block}`);
      return time;
    },
    async stop() {
      stopped = true;
      await watching;
    },
  };
}

/** Lets BTC fall in three rounds, each in a block of its own. @returns the block of the third round */
async function crash(protocol: Protocol, owner: BenchStack["owner"]): Promise<bigint> {
  const { price } = await latestRound(protocol, "BTC");
  const low = (price * KEPT) / 100n;
  for (let round = 1; round < ROUNDS; round++) await pushPrice(protocol, owner, "BTC", low);
  const { blockNumber } = await pushPrice(protocol, owner, "BTC", low);
  return blockNumber;
}

/** The receipts of a wallet's transactions in these blocks. */
async function receiptsOf({ client }: Protocol, wallet: Address, fromBlock: bigint, toBlock: bigint) {
  const receipts: TransactionReceipt[] = [];
  for (let blockNumber = fromBlock; blockNumber <= toBlock; blockNumber++) {
    const { transactions } = await client.getBlock({ blockNumber, includeTransactions: true });
    const own = transactions.filter(({ from }) => isAddressEqual(from, wallet));
    receipts.push(...(await Promise.all(own.map(({ hash }) => client.getTransactionReceipt({ hash })))));
  }
  return receipts;
}

/** Lets the price crash, and waits until `policies` are triggered or `timeoutMs` have passed since the third round. */
export async function measureCrash(
  { protocol, owner }: BenchStack,
  policies: number,
  timeoutMs: number,
): Promise<Crash> {
  const { client, deployment } = protocol;
  const blocks = watchBlocks(protocol);
  try {
    const fromBlock = await crash(protocol, owner);
    const deadline = performance.now() + timeoutMs;
    const read = () =>
      client.getLogs({ address: deployment.contracts.coverRouter, event: submitted, fromBlock });
    let logs = await read();
    while (logs.length < policies && performance.now() < deadline) {
      await sleep(TRIGGER_POLL_MS);
      logs = await read();
    }
    const toBlock = logs.at(-1)?.blockNumber ?? fromBlock;
    const numbers = new Set([fromBlock, ...logs.map(({ blockNumber }) => blockNumber)]);
    const times = new Map(
      await Promise.all(
        [...numbers].map(
          async (blockNumber) => [blockNumber, (await client.getBlock({ blockNumber })).timestamp] as const,
        ),
      ),
    );
    const [dueAt, dueTime] = [blocks.seenAt(fromBlock), times.get(fromBlock) ?? 0n];
    return {
      triggers: logs.map(({ blockNumber }) => ({
        seconds: (blocks.seenAt(blockNumber) - dueAt) / 1000,
        chainSeconds: Number((times.get(blockNumber) ?? 0n) - dueTime),
      })),
      receipts: await receiptsOf(protocol, serviceWallets.keeper.address, fromBlock, toBlock),
    };
  } finally {
    await blocks.stop();
  }
}
