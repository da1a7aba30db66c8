/** Mines blocks of many transactions, as a busy network does, and counts the events that an index reads. */
import { type Abi, type Address, encodeFunctionData, type Hex, type LocalAccount, zeroAddress } from "viem";
import { z } from "zod";
import { mockPriceFeedAbi } from "../abis/MockPriceFeed.ts";
import { protocolTokenAbi } from "../abis/ProtocolToken.ts";
import type { Protocol } from "../scripts/local/protocol/actions/index.ts";

/** The block time of the production network. */
const SECONDS_PER_BLOCK = 2;
/** More than any call of the protocol uses, also an upkeep of five payouts. A block of 300 million gas holds two hundred such calls. */
const GAS = 1_500_000n;
/** Blocks in one `eth_getLogs` request, because viem rejects answers of more than 10 MB. */
const COUNT_WINDOW = 200n;
/** keccak256 of `ApprovalForAll(address,address,bool)`: an event of an indexed contract that the index skips. */
const APPROVAL = "0x17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31";

/** The index reads all other logs of these contracts. Of the token it reads burns only. */
const indexed = [
  "coverRouter",
  "policyManager",
  "bondVault",
  "claimBond",
  "marketplace",
  "twapBurner",
  "buybackEngine",
  "pauseRegistry",
  "btcUsdFeed",
  "ethUsdFeed",
  "sequencerFeed",
] as const;

const answers = z.array(z.object({ error: z.object({ message: z.string() }).optional() }));

export type Call = { readonly from: LocalAccount; readonly to: Address; readonly data: Hex };

/** A call of a contract's function, for {@link Miner.mine}. */
export const call = (
  from: LocalAccount,
  to: Address,
  abi: Abi,
  functionName: string,
  ...args: unknown[]
): Call => ({ from, to, data: encodeFunctionData({ abi, functionName, args }) });

export type Miner = {
  /** Mines one block with these calls, at the next time or so many seconds after the newest block. Calls of one account keep their order. */
  readonly mine: (calls: readonly Call[], seconds?: number) => Promise<void>;
  readonly newest: () => Promise<bigint>;
  /** Counts the events in these blocks that the index reads. */
  readonly events: (fromBlock: bigint, toBlock: bigint) => Promise<number>;
};

/** Turns off automatic mining: from now on only `mine` adds blocks. */
export async function takeOverMining({ client, deployment, rpcUrl }: Protocol): Promise<Miner> {
  const { contracts, chainId } = deployment;

  async function post(calls: readonly { method: string; params: readonly unknown[] }[]): Promise<void> {
    const response = await fetch(rpcUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(calls.map((one, id) => ({ jsonrpc: "2.0", id, ...one }))),
    });
    const fault = answers.parse(await response.json()).find(({ error }) => error);
    if (fault?.error) throw new Error(fault.error.message);
  }

  const nonces = new Map<Address, number>();
  async function nextNonce({ address }: LocalAccount): Promise<number> {
    const nonce = nonces.get(address) ?? (await client.getTransactionCount({ address }));
    nonces.set(address, nonce + 1);
    return nonce;
  }

  async function eventsIn(fromBlock: bigint, toBlock: bigint): Promise<number> {
    const aggregatorOf = (address: Address) =>
      client.readContract({ address, abi: mockPriceFeedAbi, functionName: "aggregator" });
    const aggregators = await Promise.all([contracts.btcUsdFeed, contracts.ethUsdFeed].map(aggregatorOf));
    const address = [...indexed.flatMap((key) => contracts[key] ?? []), ...aggregators];
    const [event] = protocolTokenAbi.filter((item) => item.type === "event" && item.name === "Transfer");
    const logs = await client.getLogs({ address, fromBlock, toBlock });
    const burns = await client.getLogs({
      address: contracts.protocolToken,
      event,
      args: { to: zeroAddress },
      ...{ fromBlock, toBlock },
    });
    return logs.filter(({ topics }) => topics[0] !== APPROVAL).length + burns.length;
  }

  await post([
    { method: "evm_setAutomine", params: [false] },
    { method: "anvil_setBlockTimestampInterval", params: [SECONDS_PER_BLOCK] },
  ]);
  return {
    async mine(calls, seconds) {
      const raw: Hex[] = [];
      for (const { from, to, data } of calls) {
        const nonce = await nextNonce(from);
        const fees = { gas: GAS, maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 1n };
        raw.push(await from.signTransaction({ type: "eip1559", chainId, nonce, to, data, ...fees }));
      }
      const sending = raw.map((bytes) => ({ method: "eth_sendRawTransaction", params: [bytes] }));
      if (sending.length > 0) await post(sending);
      if (seconds !== undefined) {
        const time = Number((await client.getBlock()).timestamp) + seconds;
        await post([{ method: "evm_setNextBlockTimestamp", params: [time] }]);
      }
      await post([{ method: "evm_mine", params: [] }]);
    },
    newest: () => client.getBlockNumber(),
    async events(fromBlock, toBlock) {
      let found = 0;
      for (let from = fromBlock; from <= toBlock; from += COUNT_WINDOW) {
        const to = from + COUNT_WINDOW - 1n;
        found += await eventsIn(from, to < toBlock ? to : toBlock);
      }
      return found;
    },
  };
}
