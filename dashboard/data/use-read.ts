/** Reads of the API in components. */
import { useEffect, useMemo } from "preact/hooks";
import type { AnswerTo, Operation, PathWith, RequestArgument } from "../../client/index.ts";
import { api } from "./api.ts";
import { type Read, sharedRead, watch } from "./reads.ts";

function useShared<P extends PathWith<"get">>(
  { live }: { live: boolean },
  path: P,
  ...request: RequestArgument<Operation<"get", P>>
): Read<AnswerTo<P>> {
  const address = api.address(path, ...request);
  // The address says everything that path and request do.
  const read = useMemo(() => sharedRead(path, ...request), [address]);
  useEffect(() => watch(read, { live }), [read, live]);
  return read.answer.value;
}

/**
 * Shows an answer of the API and keeps it fresh: `const cover = useRead("/api/v1/stats/cover")`. The component renders again
 * only when the answer changes. Components that ask for the same address share one read.
 */
export const useRead = <P extends PathWith<"get">>(
  path: P,
  ...request: RequestArgument<Operation<"get", P>>
): Read<AnswerTo<P>> => useShared({ live: false }, path, ...request);

/**
 * The same for what is shown as it happens: it asks with each heartbeat that finds a new block, which costs more of the client's
 * limit.
 */
export const useLiveRead = <P extends PathWith<"get">>(
  path: P,
  ...request: RequestArgument<Operation<"get", P>>
): Read<AnswerTo<P>> => useShared({ live: true }, path, ...request);

type Bodies<Reads> = { [Name in keyof Reads]: Reads[Name] extends Read<infer Body> ? Body : never };

/**
 * Several reads as one: ready once all are, with their bodies by name.
 * @example const both = together({ cover: useRead("/api/v1/stats/cover"), vault: useRead("/api/v1/stats/vault") });
 */
export function together<Reads extends Readonly<Record<string, Read<unknown>>>>(
  reads: Reads,
): Read<Bodies<Reads>>;
export function together(reads: Readonly<Record<string, Read<unknown>>>): Read<unknown> {
  const all = Object.entries(reads);
  const failed = all.map(([, read]) => read).find(({ state }) => state === "failed");
  if (failed) return failed;
  const bodies: Record<string, unknown> = {};
  let readAt = Number.POSITIVE_INFINITY;
  let fault: { error: unknown } | undefined;
  for (const [name, read] of all) {
    if (read.state === "loading" || read.state === "failed") return { state: "loading" };
    bodies[name] = read.body;
    readAt = Math.min(readAt, read.readAt);
    if (read.state === "stale") fault = { error: read.error };
  }
  return fault
    ? { state: "stale", body: bodies, readAt, ...fault }
    : { state: "ready", body: bodies, readAt };
}
