/** Readers who ask for a few indexed routes, each with the ETag of its last answer, and the judgement of each answer. */
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { blockOf, type Endpoint, type Read } from "../../fault/support/index-reads.ts";
import { http } from "../../support/http.ts";
import type { Outages } from "./outages.ts";

/** Between two requests of a reader. */
const PAUSE_MS = 400;
/** Documented refusals of reads, allowed while something is dead. */
const refusals: readonly string[] = ["database_unavailable", "indexer_syncing", "indexer_unavailable"];
/** A busy machine may answer 503 by the api's own time limit though nothing is dead: the reader asks again so often. */
const REPEATS = 5;

const envelope = z.object({ error: z.string() });

export type ReadLog = {
  /** Answers that are not yet compared with the chain. */
  answers: Read[];
  total: number;
  notModified: number;
  /** Refused or without an answer while something was dead. */
  refused: number;
  /** 503 while nothing was dead; the next ones were no 503. */
  excused: number;
  newest: bigint;
};
export const createReadLog = (): ReadLog => ({
  answers: [],
  ...{ total: 0, notModified: 0, refused: 0, excused: 0, newest: -1n },
});

/** One reader's step: a pause and a read. Each reader has ETags of its own, and all share the log. */
export function createReading(
  apiUrl: string,
  routes: readonly Endpoint[],
  { log, outages }: { log: ReadLog; outages: Outages },
): () => Promise<void> {
  const kept = new Map<string, { etag: string; json: unknown; text: string }>();
  let next = 0;
  let repeated = 0;

  /** @throws when the answer is none that the documents allow. */
  async function read(endpoint: Endpoint): Promise<void> {
    const { path } = endpoint;
    const [begun, seen, known] = [Date.now(), log.newest, kept.get(path)];
    const headers: Record<string, string> = known ? { "if-none-match": known.etag } : {};
    const answer = await http(`${apiUrl}${path}`, { headers, timeoutMs: 30_000 }).catch(String);
    if (typeof answer === "string") {
      if (!outages.hadOneSince(begun, "api")) throw new Error(`${path}: ${answer}, and the api is alive`);
      log.refused += 1;
      return;
    }
    const { status, text } = answer;
    if (status === 503 && refusals.includes(envelope.parse(answer.json).error)) {
      if (outages.hadOneSince(begun)) {
        log.refused += 1;
        repeated = 0;
      } else {
        log.excused += 1;
        repeated += 1;
        if (repeated > REPEATS)
          throw new Error(`${path}: ${repeated} times 503 ${text}, and nothing is dead`);
      }
      return;
    }
    repeated = 0;
    if (status !== 200 && (status !== 304 || !known)) throw new Error(`${path}: ${status} ${text}`);
    const etag = answer.headers.get("etag");
    if (!etag) throw new Error(`${path}: ${status} without an ETag`);
    if (known && (status === 304) !== (etag === known.etag)) {
      throw new Error(`${path}: ${status} with ETag ${etag} for ${known.etag}`);
    }
    const block = blockOf(answer);
    if (block < seen) throw new Error(`${path}: block ${block} after ${seen}`);
    if (block > log.newest) log.newest = block;
    // What a 304 stands for must be true at its block too.
    const body = status === 304 && known ? known : { etag, json: answer.json, text };
    kept.set(path, body);
    log.total += 1;
    if (status === 304) log.notModified += 1;
    const { json } = body;
    log.answers.push({
      ...answer,
      status: 200,
      json,
      text: body.text,
      endpoint,
      seen,
      tookMs: Date.now() - begun,
    });
    outages.note({ what: "read", begun, block });
  }
  return async () => {
    await sleep(PAUSE_MS);
    const endpoint = routes[next % routes.length];
    next += 1;
    if (endpoint) await read(endpoint);
  };
}
