/** Gives a freshly deployed protocol a past worth looking at. */
import type { Deployment } from "../../lib/deployments.ts";
import { mintUsdc, openProtocol, refreshFeeds } from "./protocol/actions/index.ts";
import { buyers, cast, equipCast, usdc } from "./seed/cast.ts";
import { playEarlyYears } from "./seed/early.ts";
import { playMarketYear, playRedemptions, playToday } from "./seed/late.ts";
import { createTimeline, DAY } from "./seed/timeline.ts";

export type SeedOptions = { readonly rpcUrl: string; readonly deployment: Deployment };

/**
 * Plays 799 days of history, which end at the wall clock with fresh feeds, on a chain whose genesis lies 800 days in the
 * past and on which `deployProtocol` left all products on sale (`retired: false`): every policy status, triggers, bonds
 * with every end, listings sold, open and cancelled, burns by both burners and by holders, pauses. Account 1, the
 * relayer's, sends nothing. Takes some seconds on anvil.
 * @throws when the chain is already past the history's beginning, or a transaction reverts.
 */
export async function seedHistory({ rpcUrl, deployment }: SeedOptions): Promise<void> {
  const protocol = openProtocol(deployment, rpcUrl);
  const now = BigInt(Math.floor(Date.now() / 1000));
  const { timestamp } = await protocol.client.getBlock();
  if (timestamp > now - BigInt(799 * DAY))
    throw new Error("the chain's genesis must lie 800 days in the past for a seeded history");

  const timeline = createTimeline(protocol, cast.owner, now);
  await timeline.at(799 * DAY);
  await equipCast(protocol);
  const bonds = await playEarlyYears(protocol, timeline);
  await playMarketYear(protocol, timeline, bonds);
  await playRedemptions(protocol, timeline, bonds);
  await playToday(protocol, timeline, bonds);
  // The present has moved on while the past was played.
  const elapsed = Math.floor(Date.now() / 1000) - Number(now);
  await timeline.at(-elapsed);
}

/** What a fresh test network needs: feeds that are not stale, and USDC for the cast. */
export async function seedTestnet({ rpcUrl, deployment }: SeedOptions): Promise<void> {
  const protocol = openProtocol(deployment, rpcUrl);
  await refreshFeeds(protocol, cast.owner);
  for (const buyer of buyers) await mintUsdc(protocol, cast.owner, buyer.address, usdc(100_000));
}
