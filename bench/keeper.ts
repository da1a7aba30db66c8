/** How soon the keeper pays a thousand policies of six products that a crash makes due at once, and what that costs. */
import { setTimeout as sleep } from "node:timers/promises";
import { getAbiItem } from "viem";
import { coverRouterAbi } from "../abis/CoverRouter.ts";
import { mockPriceFeedAbi } from "../abis/MockPriceFeed.ts";
import { policyManagerAbi } from "../abis/PolicyManager.ts";
import { anvilAccount } from "../lib/chain/client.ts";
import { DWELL, OBSERVATION_INTERVAL, OBSERVATIONS } from "../lib/price-rules.ts";
import { privateKeyOf } from "../scripts/local/anvil.ts";
import * as act from "../scripts/local/protocol/actions/index.ts";
import { catalogueTerms, termsOf } from "../scripts/local/protocol/terms.ts";
import { fundKeeper, serviceWallets } from "../scripts/local/service-wallets.ts";
import { waitFor } from "../scripts/local/wait.ts";
import { call, takeOverMining } from "./miner.ts";
import { openNode } from "./raw-transactions.ts";
import { median, report } from "./report.ts";
import { atEnd, withBenchStack } from "./stack.ts";

const POLICIES = 1_000;
/** Purchases in a block. */
const PURCHASES = 20;
/** The chain's blocks: two seconds, and gas for sixteen full upkeeps. */
const BLOCK_SECONDS = 2;
const BLOCK_GAS = 30_000_000n;
/** Between two rounds of the feeds during the crash, in ms. */
const ROUND_MS = 10_000;
/** What an operator promises: seconds from the first second in which the third observation is possible. */
const PAID_WITHIN = 600;

const USDC = 1_000_000n;
const buyers = [2, 3, 4, 5, 6, 7, 8, 9].map((index) => anvilAccount(index));
const triggered = getAbiItem({ abi: policyManagerAbi, name: "PolicyTriggered" });

export const benchKeeper = (): Promise<void> =>
  withBenchStack({ gasLimit: BLOCK_GAS }, async (stack) => {
    const { protocol, owner, sql } = stack;
    const { client } = protocol;
    const { contracts } = protocol.deployment;
    for (const { address } of buyers) await act.mintUsdc(protocol, owner, address, 10_000_000n * USDC);
    for (const buyer of buyers) await act.approveUsdc(protocol, buyer, contracts.coverRouter);
    await act.refreshFeeds(protocol, owner);
    await fundKeeper(protocol.rpcUrl);
    const node = openNode(protocol.rpcUrl, 1);
    await atEnd(node.close);
    const miner = await takeOverMining(protocol);
    for (let first = 0; first < POLICIES; first += PURCHASES) {
      const calls = Array.from({ length: PURCHASES }, (_, n) => {
        const { productId, asset } =
          catalogueTerms[(first + n) % catalogueTerms.length] ?? termsOf("FLASHBTC1H-001");
        const buyer = buyers[n % buyers.length] ?? owner;
        const coverage = (100n + BigInt(first + n)) * USDC;
        return call(
          buyer,
          contracts.coverRouter,
          coverRouterAbi,
          "purchasePolicy",
          productId,
          coverage,
          asset,
        );
      });
      await miner.mine(calls);
    }
    await stack.startServices(["indexer", "writer"], { keeperKey: privateKeyOf(serviceWallets.keeper) });
    const bought = await miner.newest();
    await waitFor({
      what: "the index to have all policies",
      probe: async () => {
        const [head] = await sql<{ number: string }[]>`select number::text from indexer.head`;
        return (head && BigInt(head.number) >= bought) || undefined;
      },
    });

    const { price: btc } = await act.latestRound(protocol, "BTC");
    const { price: eth } = await act.latestRound(protocol, "ETH");
    const push = (feed: `0x${string}`, price: bigint) => call(owner, feed, mockPriceFeedAbi, "push", price);
    await miner.mine([], DWELL);
    await miner.mine([push(contracts.btcUsdFeed, btc / 2n), push(contracts.ethUsdFeed, eth / 2n)]);
    const { number: fallen, timestamp } = await client.getBlock();
    const possible = timestamp + BigInt(OBSERVATION_INTERVAL * (OBSERVATIONS - 1));
    await node.ask("evm_setIntervalMining", [BLOCK_SECONDS]);

    const paid = () =>
      client.getLogs({ address: contracts.policyManager, event: triggered, fromBlock: fallen, strict: true });
    const ending = Date.now() + (PAID_WITHIN + OBSERVATION_INTERVAL * OBSERVATIONS) * 1000;
    while ((await paid()).length < POLICIES && Date.now() < ending) {
      await sleep(ROUND_MS);
      await act.pushPrice(protocol, owner, "BTC", btc / 2n);
      await act.pushPrice(protocol, owner, "ETH", eth / 2n);
    }
    const logs = await paid();
    const times = new Map<bigint, bigint>();
    for (const { blockNumber } of logs)
      if (!times.has(blockNumber)) times.set(blockNumber, (await client.getBlock({ blockNumber })).timestamp);
    const seconds = logs.map(({ blockNumber }) => Number((times.get(blockNumber) ?? 0n) - possible));
    const [sent] = await sql<{ count: number }[]>`
      select count(*)::int as count from service.transaction t join service.service_transaction e on e.id = t.intent
      where e.purpose = 'keeper_trigger'`;
    const gas = await gasOf(protocol, fallen);
    report(`keeper: a crash makes ${POLICIES} policies of six products due at once`, [
      { what: "paid", value: logs.length, unit: "", atLeast: POLICIES },
      { what: "seconds from possible to paid, median", value: median(seconds), unit: "s" },
      {
        what: "seconds from possible to paid, last",
        value: Math.max(...seconds),
        unit: "s",
        atMost: PAID_WITHIN,
      },
      { what: "transactions of observations", value: sent?.count ?? 0, unit: "" },
      { what: "gas of a paid policy", value: gas / logs.length, unit: "" },
    ]);
  });

/** The gas that the keeper's wallet has used since a block. */
async function gasOf({ client }: act.Protocol, fromBlock: bigint): Promise<number> {
  const last = await client.getBlockNumber();
  let gas = 0n;
  for (let blockNumber = fromBlock; blockNumber <= last; blockNumber += 1n) {
    const { transactions } = await client.getBlock({ blockNumber, includeTransactions: true });
    for (const { from, hash } of transactions)
      if (from === serviceWallets.keeper.address.toLowerCase())
        gas += (await client.getTransactionReceipt({ hash })).gasUsed;
  }
  return Number(gas);
}
