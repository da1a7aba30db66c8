import { type Address, createWalletClient, http, parseAbi, publicActions } from "viem";
import { anvilAccount, chainOf } from "../../lib/chain/client.ts";
import type { Deployment } from "../../lib/deployments.ts";
import { errorText } from "../../lib/log.ts";

/** The protocol calls an answer stale after an hour. */
const refreshEveryMs = 5 * 60_000;
/** Nobody else sends from this account of anvil's, so that its nonces are the keeper's alone. */
const keeper = anvilAccount(8);
const feedAbi = parseAbi(["function refresh()"]);

export type KeptChain = { readonly deployment: Deployment; readonly url: string };

/** The price feeds of a chain that take a new round from anybody: the mock ones do, those of a real network do not. */
async function openFeeds({ deployment, url }: KeptChain) {
  const client = createWalletClient({
    account: keeper,
    chain: chainOf(deployment, url),
    transport: http(url),
    pollingInterval: 200,
  }).extend(publicActions);
  const { btcUsdFeed, ethUsdFeed, tokenUsdFeed } = deployment.contracts;
  const refresh = (address: Address) => ({ address, abi: feedAbi, functionName: "refresh" }) as const;
  const open: Address[] = [];
  for (const feed of [btcUsdFeed, ethUsdFeed, tokenUsdFeed]) {
    const takesRounds = await client.simulateContract(refresh(feed)).then(
      () => true,
      () => false,
    );
    if (takesRounds) open.push(feed);
  }
  return {
    count: open.length,
    async refresh() {
      for (const feed of open) {
        const hash = await client.writeContract(refresh(feed));
        await client.waitForTransactionReceipt({ hash });
      }
    },
  };
}

/**
 * Plays the feeds' heartbeat: repeats their newest answers now and then every few minutes, so that no oracle of a dev
 * stack goes stale however long it runs. Feeds that take no answers from us, as those of a forked network, are left
 * alone. Resolves after the first round.
 */
export async function keepPricesFresh(chains: readonly KeptChain[]) {
  const kept = await Promise.all(chains.map(openFeeds));
  const round = () => Promise.all(kept.map((feeds) => feeds.refresh()));
  await round();
  const timer = setInterval(() => {
    round().catch((error: unknown) => console.error(`price feeds: ${errorText(error)}`));
  }, refreshEveryMs);
  return {
    /** Feeds that are kept fresh, over all chains. */
    feeds: kept.reduce((sum, { count }) => sum + count, 0),
    async stop() {
      clearInterval(timer);
    },
  };
}
