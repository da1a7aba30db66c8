/** What is shown of a read, in each of its states. */

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ConnectionError, hasCode } from "../../client/index.ts";
import type { Read } from "../data/reads.ts";
import { localClock } from "../format/time.ts";

/** Nothing moves for an answer that comes soon, in ms. */
const SOON_MS = 300;

function Loading() {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), SOON_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p class="waiting" aria-busy="true">
      {late ? "Loading …" : " "}
    </p>
  );
}

/** Why there is no answer, for people. */
export function reasonOf(error: unknown): string {
  if (error instanceof ConnectionError) return "The API does not answer. The page tries again by itself.";
  if (hasCode(error, "indexer_syncing"))
    return "The index is still reading the chain's history; figures appear by themselves.";
  if (hasCode(error, "indexer_unavailable")) return "No indexer has been started yet.";
  if (hasCode(error, "database_unavailable"))
    return "The index cannot be read now; the page tries again by itself.";
  if (hasCode(error, "rate_limit"))
    return `Your network address has asked too often; it goes on in ${error.retryAfterSeconds ?? 60} seconds.`;
  return error instanceof Error ? error.message : String(error);
}

/**
 * Shows a read's body with `children`, or why there is none. The place keeps its height while it loads: give `height` in
 * steps of 8 px where the content is tall.
 */
export function Shown<Body>({
  read,
  height = 4,
  children,
}: {
  read: Read<Body>;
  height?: number;
  children: (body: Body) => ComponentChildren;
}) {
  if (read.state === "loading" || read.state === "failed") {
    return (
      <div class={`placeholder steps-${height <= 4 ? "low" : height <= 16 ? "middle" : "high"}`}>
        {read.state === "loading" ? <Loading /> : <p class="waiting">{reasonOf(read.error)}</p>}
      </div>
    );
  }
  return (
    <>
      {children(read.body)}
      {read.state === "stale" && (
        <p class="note stale">
          As of {localClock(read.readAt / 1000)}. {reasonOf(read.error)}
        </p>
      )}
    </>
  );
}
