/** Writes a history onto a freshly deployed protocol. */
import type { Deployment } from "../../lib/deployments.ts";
import { mintUsdc, openProtocol, refreshFeeds } from "./protocol/actions/index.ts";
import { buyers, fundSeedAccounts, seedAccounts, usdc } from "./seed/accounts.ts";
import { playFirstYears } from "./seed/first-years.ts";
import { playMarket, playRedemptions, playToday } from "./seed/recent-months.ts";
import { createTimeline, DAY } from "./seed/timeline.ts";

export type SeedOptions = { readonly rpcUrl: string; readonly deployment: Deployment };

/**
 * Plays 799 days of history up to the present, with fresh feeds in the end. The chain's genesis must be 800 days ago, and
 * all products on sale (`retired: false`). The history has policies of every status, triggers, redeemed, queued and
 * surrendered bonds, sold, open and cancelled listings, sellers who have withdrawn and one who has not, burns by the burner,
 * the buyback engine and holders, and pauses. The relayer's
 * account sends nothing. Takes some seconds on anvil.
 * @throws when the chain is younger, or a transaction reverts.
 */
export async function seedHistory({ rpcUrl, deployment }: SeedOptions): Promise<void> {
  const protocol = openProtocol(deployment, rpcUrl);
  const now = BigInt(Math.floor(Date.now() / 1000));
  const { timestamp } = await protocol.client.getBlock();
  if (timestamp > now - BigInt(799 * DAY))
    throw new Error("the chain's genesis must be 800 days ago for a seeded history");

  const timeline = createTimeline(protocol, seedAccounts.owner, now);
  await timeline.at(799 * DAY);
  await fundSeedAccounts(protocol);
  const bonds = await playFirstYears(protocol, timeline);
  await playMarket(protocol, timeline, bonds);
  await playRedemptions(protocol, timeline, bonds);
  await playToday(protocol, timeline, bonds);
  // Time has passed while the history was played.
  const elapsed = Math.floor(Date.now() / 1000) - Number(now);
  await timeline.at(-elapsed);
}

/** Refreshes the feeds of a fresh testnet and gives the seed accounts USDC. */
export async function seedTestnet({ rpcUrl, deployment }: SeedOptions): Promise<void> {
  const protocol = openProtocol(deployment, rpcUrl);
  await refreshFeeds(protocol, seedAccounts.owner);
  for (const buyer of buyers) await mintUsdc(protocol, seedAccounts.owner, buyer.address, usdc(100_000));
}
