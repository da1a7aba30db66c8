/** Asks every few seconds how far the index is: the one question that tells whether anything else has to be asked again. */
import { signal } from "@preact/signals";
import { type AnswerTo, ConnectionError, hasCode } from "../../client/index.ts";
import { api } from "./api.ts";
import { noteRateLimit, noteRefusal } from "./pace.ts";
import { repeat } from "./repeat.ts";

/** Between two beats, in ms: two blocks of the chain, and an eighth of what a client address may ask. */
const BEAT_MS = 4000;

type IndexerHealth = AnswerTo<"/api/v1/indexer/health">;

/** Where index and chain are. */
export type Position = {
  readonly block: bigint;
  readonly head: bigint;
  /** Time of the chain's newest block, Unix seconds. */
  readonly headTime: number;
  /** Age of the indexed block when it was read, seconds; undefined before the first. */
  readonly ageSeconds: number | undefined;
  /** When this was read, wall clock in ms. */
  readonly readAt: number;
  readonly condition: IndexerHealth["condition"];
};

/** What lives: `index_away` when the API knows no index, `api_away` when nothing answers. `since` is in ms. */
export type Pulse =
  | { readonly state: "connecting" }
  | { readonly state: "synced" | "lagging" | "syncing"; readonly position: Position }
  | { readonly state: "index_away"; readonly since: number; readonly reason: string }
  | { readonly state: "api_away"; readonly since: number; readonly reason: string };

export const pulse = signal<Pulse>({ state: "connecting" });
/** The last known position; it stays while nothing answers. */
export const position = signal<Position | undefined>(undefined);

function readPosition({
  body,
  ageSeconds,
}: {
  body: IndexerHealth;
  ageSeconds: number | undefined;
}): Position {
  return {
    block: BigInt(body.lastSyncedBlock),
    head: BigInt(body.headBlock),
    headTime: Number(body.headTimestamp),
    ageSeconds,
    readAt: Date.now(),
    condition: body.condition,
  };
}

/** Since when the same state lasts, in ms. */
const sinceOf = (state: "index_away" | "api_away"): number => {
  const { value } = pulse;
  return value.state === state ? value.since : Date.now();
};

function failed(error: unknown): Pulse {
  const reason = error instanceof Error ? error.message : String(error);
  const state = error instanceof ConnectionError ? "api_away" : "index_away";
  return { state, since: sinceOf(state), reason };
}

async function beat(): Promise<boolean> {
  try {
    const answer = await api.revalidate("/api/v1/indexer/health", undefined);
    noteRateLimit(answer.rateLimit);
    if (!answer.changed) return true;
    const read = readPosition({ body: answer.body, ageSeconds: answer.indexAgeSeconds });
    position.value = read;
    pulse.value = { state: answer.body.status, position: read };
    return true;
  } catch (error) {
    noteRefusal(error);
    if (!hasCode(error, "rate_limit")) pulse.value = failed(error); // too many questions say nothing about the index
    return false;
  }
}

/**
 * Starts the heart. It rests while the page is hidden, beats at once when it is seen again, and slower while nothing answers.
 * @param afterBeat called after each beat that was answered
 */
export function startHeartbeat(afterBeat: () => void): void {
  repeat(async () => {
    const answered = await beat();
    if (answered) afterBeat();
    return answered;
  }, BEAT_MS);
}
