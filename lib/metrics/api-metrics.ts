/** The metrics of the API. */
import { counter, gauge, histogram } from "./description.ts";

/** In seconds: from an answer out of memory up to a purchase that waits for its block. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export const apiMetrics = {
  requests: counter("api_requests_total", "Answered requests, by method, route and status", [
    "method",
    "route",
    "status",
  ]),
  seconds: histogram(
    "api_request_seconds",
    "Time from a request's headers until its answer is made",
    BUCKETS,
    ["method", "route"],
  ),
  limitHits: counter("api_limit_hits_total", "Requests that a rate limit refused, by limit", ["limit"]),
  indexAnswers: counter(
    "api_index_answers_total",
    "Answers from the index, by source: cache, another request's read, or the database",
    ["source"],
  ),
  poolWait: gauge(
    "api_pool_wait_seconds",
    "Time of an empty statement through the pool at this scrape: its wait behind others, and a round trip",
    ["pool"],
  ),
  indexLag: gauge("api_index_lag_blocks", "Blocks between the chain's head and what reads of the index see"),
  standbyUsed: gauge(
    "api_standby_used",
    "1 while reads of the index ask the standby first, 0 while the primary answers; no sample without a standby",
  ),
} as const;
