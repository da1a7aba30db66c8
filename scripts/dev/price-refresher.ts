import { type Address, createWalletClient, type LocalAccount, parseAbi, publicActions } from "viem";
import { anvilAccount, chainOf } from "../../lib/chain/client.ts";
import type { Deployment } from "../../lib/deployments.ts";
import { errorText } from "../../lib/log.ts";
import { toNode } from "../local/to-node.ts";

/** The protocol rejects a price older than an hour. */
const REFRESH_EVERY_MS = 5 * 60_000;
/** An account of anvil's that sends nothing else, so that no other sender uses its nonces. */
const refresher = anvilAccount(8);
const feedAbi = parseAbi(["function refresh()"]);

export type RefreshedChain = { readonly deployment: Deployment; readonly url: string };
export type RefreshOptions = {
  /** Sends the rounds; one of anvil's accounts when left out. */
  readonly account?: LocalAccount;
  readonly everyMs?: number;
};

/** Refreshes those feeds of a chain that accept a round from any account: mock feeds do, those of a real network do not. */
async function feedRefresher({ deployment, url }: RefreshedChain, account: LocalAccount) {
  const client = createWalletClient({
    account,
    chain: chainOf(deployment, url),
    transport: toNode(url),
    pollingInterval: 200,
  }).extend(publicActions);
  const { btcUsdFeed, ethUsdFeed } = deployment.contracts;
  const refresh = (address: Address) => ({ address, abi: feedAbi, functionName: "refresh" }) as const;
  const refreshable: Address[] = [];
  for (const feed of [btcUsdFeed, ethUsdFeed]) {
    const accepts = await client.simulateContract(refresh(feed)).then(
      () => true,
      () => false,
    );
    if (accepts) refreshable.push(feed);
  }
  return {
    refreshable,
    async refresh() {
      for (const feed of refreshable) {
        const hash = await client.writeContract(refresh(feed));
        await client.waitForTransactionReceipt({ hash });
      }
    },
  };
}

/**
 * Repeats the newest prices of all refreshable feeds now and every five minutes, so that none becomes stale. The feeds of
 * a forked network stay as they are. Resolves after the first round. @returns the refreshed feeds, and how to stop
 */
export async function keepPricesFresh(
  chains: readonly RefreshedChain[],
  { account = refresher, everyMs = REFRESH_EVERY_MS }: RefreshOptions = {},
) {
  const refreshers = await Promise.all(chains.map((chain) => feedRefresher(chain, account)));
  const round = () => Promise.all(refreshers.map(({ refresh }) => refresh()));
  await round();
  const timer = setInterval(() => {
    round().catch((error: unknown) => console.error(`price feeds: ${errorText(error)}`));
  }, everyMs);
  return {
    feeds: refreshers.flatMap(({ refreshable }) => refreshable),
    async stop() {
      clearInterval(timer);
    },
  };
}
