/**
 * `npm run dev:price -- BTC -7%` moves a price on the chain of a running `npm run dev`, by as many rounds of its mock feed as a
 * trigger needs, and prints what changed: the price, the rounds, and the policies that are due then, which the keeper pays.
 *
 * `API_URL` and `RPC_URL` select another stack. It refuses every chain but a local one.
 */
import { formatUnits } from "viem";
import { anvilAccount } from "../lib/chain/client.ts";
import { errorText } from "../lib/log.ts";
import { type Api, openApi } from "./demo/api-client.ts";
import { findStack, openWallet, stackUrls } from "./dev/running-stack.ts";
import { changedPrice, FEED_DECIMALS, parsePriceArguments, usage } from "./price/arguments.ts";
import { readDuePolicies } from "./price/due-policies.ts";
import { movePrice, type NewRound, newestRound } from "./price/move-price.ts";
import { UsageError } from "./usage-error.ts";

/** Any account may push rounds. It owns the contracts, and sends nothing once the stack is ready. */
const sender = anvilAccount(0);

const dollars = (price: bigint) => formatUnits(price, FEED_DECIMALS);
const time = (seconds: bigint) => new Date(Number(seconds) * 1000).toISOString();

function printRound({ roundId, updatedAt, blockNumber, txHash }: NewRound): void {
  console.log(`  round ${roundId} at ${time(updatedAt)} in block ${blockNumber}, ${txHash}`);
}

async function printDue(api: Api, { blockNumber: block, updatedAt: now }: NewRound): Promise<void> {
  const due = await readDuePolicies(api, { block, now });
  console.log(`\nDue in block ${block}: ${due.length === 0 ? "no policy" : due.length}`);
  for (const { productName, productId, policyId, buyer, payoutAmount, expiresAt, triggeredAt } of due) {
    const payout = formatUnits(BigInt(payoutAmount), 6);
    const state = triggeredAt === null ? `until ${time(BigInt(expiresAt))}` : "paid by now";
    console.log(
      `  policy ${policyId} of ${productName ?? productId}: ${payout} USD in bonds for ${buyer}, ${state}`,
    );
  }
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

  const { price: before } = await newestRound(wallet, feed);
  const after = changedPrice(before, change);
  const rounds = await movePrice(wallet, feed, after);
  console.log(`${asset} on chain ${chainId}: ${dollars(before)} → ${dollars(after)} USD`);
  for (const round of rounds) printRound(round);
  console.log("The stack repeats this price every five minutes, until you move it again.");

  const newest = rounds.at(-1);
  if (newest) await printDue(api, newest);
}

main().catch((error: unknown) => {
  console.error(error instanceof UsageError ? error.message : errorText(error));
  process.exitCode = 1;
});
