/** Repeats the newest prices of a fork's feeds before they are stale. Until then they stay as they were on the forked chain. */
import { type Address, parseAbi } from "viem";
import { anvilAccount } from "../../lib/chain/client.ts";
import { errorText } from "../../lib/log.ts";
import { openWallet, type Wallet } from "../dev/running-stack.ts";
import { latestRoundOf, roundSource } from "../price/round-source.ts";

const LOOK_EVERY_MS = 60_000;
/** Seconds: half of the hour after which the protocol rejects a price. */
const REPEAT_AFTER = 1800n;
/** An account of anvil's that sends nothing else, so that no other sender uses its nonces. */
const account = anvilAccount(12);
const refreshAbi = parseAbi(["function refresh()"]);

async function keepFresh(wallet: Wallet, feed: Address): Promise<void> {
  const [{ updatedAt }, { timestamp }] = await Promise.all([latestRoundOf(wallet, feed), wallet.getBlock()]);
  if (timestamp - updatedAt < REPEAT_AFTER) return;
  const address = await roundSource(wallet, feed);
  const hash = await wallet.writeContract({ address, abi: refreshAbi, functionName: "refresh", chain: null });
  await wallet.waitForTransactionReceipt({ hash });
}

/** Looks now, and every minute; what goes wrong is said. Resolves after the first look. @returns how to stop */
export async function keepForkFresh(url: string, feeds: readonly Address[]) {
  const wallet = openWallet(url, account);
  const look = async () => {
    for (const feed of feeds)
      await keepFresh(wallet, feed).catch((error: unknown) =>
        console.error(`The price of feed ${feed} becomes stale: ${errorText(error)}`),
      );
  };
  await look();
  const timer = setInterval(() => void look(), LOOK_EVERY_MS);
  return {
    async stop() {
      clearInterval(timer);
    },
  };
}
