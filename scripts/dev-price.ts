/**
 * `npm run dev:price -- BTC -7%` moves a price on the chain of a running `npm run dev`, and prints what changed: the price, its
 * rounds, and the policies that the keeper observes. A fall lasts for three observations: the local clock moves on by the 300
 * seconds that a new policy waits, and by a minute between two rounds.
 *
 * `API_URL` and `RPC_URL` select another stack. It refuses every chain but a local one.
 */
import { formatUnits } from "viem";
import { anvilAccount } from "../lib/chain/client.ts";
import { errorText } from "../lib/log.ts";
import { OBSERVATIONS } from "../lib/price-rules.ts";
import { type Api, openApi } from "./demo/api-client.ts";
import { findStack, openWallet, stackUrls } from "./dev/running-stack.ts";
import { changedPrice, FEED_DECIMALS, parsePriceArguments, usage } from "./price/arguments.ts";
import { type OpenPolicy, observedSince, policiesReachedBy } from "./price/due-policies.ts";
import { letFall, movePrice, type NewRound } from "./price/move-price.ts";
import { latestRoundOf } from "./price/round-source.ts";
import { UsageError } from "./usage-error.ts";

/** Any account may push rounds. It owns the contracts, and sends nothing once the stack is ready. */
const sender = anvilAccount(0);

const dollars = (price: bigint) => formatUnits(price, FEED_DECIMALS);
const time = (seconds: bigint) => new Date(Number(seconds) * 1000).toISOString();

function printRound({ roundId, updatedAt, blockNumber, txHash }: NewRound): void {
  console.log(`  round ${roundId} at ${time(updatedAt)} in block ${blockNumber}, ${txHash}`);
}

/** Prints which of `reached` the keeper has observed at a round. @returns whether it was any */
async function printObserved(api: Api, reached: readonly OpenPolicy[], round: NewRound): Promise<boolean> {
  const block = round.blockNumber;
  const due = await observedSince(api, reached, block);
  console.log(`\nDue in block ${block}: ${due.length === 0 ? "no policy" : due.length}`);
  for (const { productName, productId, policyId, buyer, payoutAmount, observation } of due) {
    const payout = formatUnits(BigInt(payoutAmount), 6);
    const done =
      observation === OBSERVATIONS ? "observed for the third time and paid" : `observed, ${observation} of 3`;
    console.log(
      `  policy ${policyId} of ${productName ?? productId}: ${payout} USD in bonds for ${buyer}, ${done}`,
    );
  }
  return due.length > 0;
}

async function main(): Promise<void> {
  const command = parsePriceArguments(process.argv.slice(2));
  if (command.do === "help") {
    console.log(usage);
    return;
  }
  const { asset, change } = command;
  const urls = stackUrls(process.env);
  const api = openApi(urls.apiUrl);
  const { chainId, contracts } = await findStack(api, urls, { quiet: true });
  const feed = { BTC: contracts.btcUsdFeed, ETH: contracts.ethUsdFeed }[asset];
  const wallet = openWallet(urls.rpcUrl, sender);

  const { price: before } = await latestRoundOf(wallet, feed);
  const after = changedPrice(before, change);
  console.log(`${asset} on chain ${chainId}: ${dollars(before)} → ${dollars(after)} USD`);
  if (after < before) {
    const reached = await policiesReachedBy(api, asset, after, await wallet.getBlockNumber());
    const observed = async (round: NewRound) => {
      printRound(round);
      return printObserved(api, reached, round);
    };
    await letFall(wallet, feed, after, observed);
  } else printRound(await movePrice(wallet, feed, after));
  console.log("The stack repeats this price before it is stale, until you move it again.");
}

main().catch((error: unknown) => {
  console.error(error instanceof UsageError ? error.message : errorText(error));
  process.exitCode = 1;
});
