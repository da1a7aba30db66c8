import { getAddress, type Hex } from "viem";
import { SEQUENCER_GRACE } from "../../../lib/price-rules.ts";
import type { Api } from "../../http/env.ts";
import { decimalOrNull } from "../../http/field-types.ts";
import { cursorOf, cutPage, type FeedPage } from "../../http/paging.ts";
import type { StatsParts } from "../stats-parts.ts";
import { type pauseScopes, readPauseStates, readPauses, readSequencer } from "./queries.ts";
import { pausesRoute } from "./routes.ts";

/** From the start to the end, or to the indexed block. An outage's times are its feed's, and a mock feed takes any. */
function secondsOf(start: bigint, end: bigint | null, now: bigint): number {
  const last = end !== null && end < now ? end : now;
  return last > start ? Number(last - start) : 0;
}

const addressOrNull = (address: Hex | null) => (address === null ? null : getAddress(address));

type Sequencer = Awaited<ReturnType<typeof readSequencer>>;

function sequencerBody(sequencer: Sequencer, now: bigint) {
  if (!sequencer) return null;
  const { up, startedAt } = sequencer;
  return {
    up,
    since: String(startedAt),
    accepted: up && startedAt > 0n && now > startedAt + BigInt(SEQUENCER_GRACE),
  };
}

export function addPauseRoutes(app: Api, { index, responses }: StatsParts): void {
  const pauses = responses.define(
    (page: FeedPage) =>
      index.read((db) => Promise.all([readPauses(db, page), readPauseStates(db), readSequencer(db)])),
    ([found, states, sequencer], { limit }, { timestamp: now }) => {
      const { rows, next } = cutPage(found, limit, cursorOf);
      const stateOf = (scope: (typeof pauseScopes)[number]) => {
        const state = states.find((one) => one.scope === scope);
        return { paused: state?.paused ?? false, since: decimalOrNull(state?.since ?? null) };
      };
      return {
        pauses: rows.map((pause) => ({
          scope: pause.scope,
          started_at: String(pause.blockTimestamp),
          ended_at: decimalOrNull(pause.endedAt),
          duration_seconds: secondsOf(pause.blockTimestamp, pause.endedAt, now),
          started_by: addressOrNull(pause.by),
          ended_by: addressOrNull(pause.endedBy),
          start_price: decimalOrNull(pause.price),
          end_price: decimalOrNull(pause.endPrice),
          end_tx_hash: pause.endTxHash,
          tx_hash: pause.txHash,
          block_number: String(pause.blockNumber),
          log_index: pause.logIndex,
        })),
        count: rows.length,
        next_cursor: next,
        state: { router: stateOf("router"), auto: stateOf("auto"), global: stateOf("global") },
        sequencer: sequencerBody(sequencer, now),
      };
    },
  );
  app.openapi(pausesRoute, async (c) => responses.send(c, await pauses(c.req.valid("query")), pausesRoute));
}
