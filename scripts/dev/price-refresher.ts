import { type Address, createWalletClient, parseAbi, publicActions } from "viem";
import { anvilAccount, chainOf } from "../../lib/chain/client.ts";
import type { Deployment } from "../../lib/deployments.ts";
import { errorText } from "../../lib/log.ts";
import { toNode } from "../local/to-node.ts";

/** The protocol rejects a price older than an hour. */
const refreshEveryMs = 5 * 60_000;
/** An account of anvil's that sends nothing else, so that no other sender uses its nonces. */
const refresher = anvilAccount(8);
const feedAbi = parseAbi(["function refresh()"]);

export type RefreshedChain = { readonly deployment: Deployment; readonly url: string };

/** Refreshes those feeds of a chain that accept a round from any account: mock feeds do, those of a real network do not. */
async function feedRefresher({ deployment, url }: RefreshedChain) {
  const client = createWalletClient({
    account: refresher,
    chain: chainOf(deployment, url),
    transport: toNode(url),
    pollingInterval: 200,
  }).extend(publicActions);
  const { btcUsdFeed, ethUsdFeed, tokenUsdFeed } = deployment.contracts;
  const refresh = (address: Address) => ({ address, abi: feedAbi, functionName: "refresh" }) as const;
  const refreshable: Address[] = [];
  for (const feed of [btcUsdFeed, ethUsdFeed, tokenUsdFeed]) {
    const accepts = await client.simulateContract(refresh(feed)).then(
      () => true,
      () => false,
    );
    if (accepts) refreshable.push(feed);
  }
  return async () => {
    for (const feed of refreshable) {
      const hash = await client.writeContract(refresh(feed));
      await client.waitForTransactionReceipt({ hash });
    }
  };
}

/**
 * Repeats the newest prices of all refreshable feeds now and every five minutes, so that none becomes stale. The feeds of
 * a forked network stay as they are. Resolves after the first round.
 */
export async function keepPricesFresh(chains: readonly RefreshedChain[]) {
  const refreshers = await Promise.all(chains.map(feedRefresher));
  const round = () => Promise.all(refreshers.map((refresh) => refresh()));
  await round();
  const timer = setInterval(() => {
    round().catch((error: unknown) => console.error(`price feeds: ${errorText(error)}`));
  }, refreshEveryMs);
  return {
    async stop() {
      clearInterval(timer);
    },
  };
}
