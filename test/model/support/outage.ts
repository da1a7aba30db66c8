/** Outages of the sequencer. The contracts take no price while it is down, and in the hour after it. */
import { mockSequencerFeedAbi } from "../../../abis/MockSequencerFeed.ts";
import { SEQUENCER_GRACE } from "../../../lib/price-rules.ts";
import * as act from "../../support/protocol-actions.ts";
import { type Action, type ActionContext, HOUR } from "./action.ts";

type Owned = Pick<ActionContext, "protocol" | "owner">;

const GRACE = BigInt(SEQUENCER_GRACE);

/** Passes the sequencer's grace time. */
async function passGrace({ protocol, owner }: Owned, upSince: bigint) {
  await act.mineAt(protocol, upSince + GRACE + 1n);
  await act.refreshFeeds(protocol, owner);
}

/** The sequencer is down for up to three hours, and the next hour passes too. */
export const outage: Action = (context) => async () => {
  const { protocol, owner, now, draw } = context;
  await act.setSequencer(protocol, owner, { down: true, startedAt: now });
  const upSince = now + 60n + (BigInt(draw.which) % (3n * HOUR));
  await act.mineAt(protocol, upSince);
  const { blockNumber } = await act.setSequencer(protocol, owner, { down: false, startedAt: upSince });
  await passGrace(context, upSince);
  return { block: blockNumber, changed: {} };
};

/** Ends an outage, or its grace time, that a reorganisation left in the middle. */
export async function endOutage({ protocol, owner }: Owned): Promise<void> {
  const { client, deployment } = protocol;
  const [, down, startedAt] = await client.readContract({
    abi: mockSequencerFeedAbi,
    address: deployment.contracts.sequencerFeed,
    functionName: "latestRoundData",
  });
  const now = await act.chainTime(protocol);
  if (down !== 0n) await act.setSequencer(protocol, owner, { down: false, startedAt: now });
  const upSince = down === 0n ? startedAt : now;
  if (now <= upSince + GRACE) await passGrace({ protocol, owner }, upSince);
}
