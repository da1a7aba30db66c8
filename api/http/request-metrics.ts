/** Counts requests and their answers for `GET /metrics`. */
import type { MiddlewareHandler } from "hono";
import { routePath } from "hono/route";
import type { Registry } from "prom-client";
import { apiMetrics } from "../../lib/metrics/api-metrics.ts";
import { openCounter, openHistogram } from "../../lib/metrics/description.ts";
import type { ApiEnv } from "./env.ts";

/** Where an answer of the index came from. */
export const answerSources = ["cache", "shared", "database"] as const;
export type AnswerSource = (typeof answerSources)[number];

/** A request that was answered; `seconds` from its headers until its answer was made. */
export type AnsweredRequest = {
  readonly method: string;
  /** The address as the routing table has it, with the names of parameters: bounded, unlike what clients send. */
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
};

/** The methods of HTTP: a client may send any other word. */
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const OTHER = "other";

/** Measures the API as it answers. */
export function createApiMeter(registry: Registry) {
  const requests = openCounter(registry, apiMetrics.requests);
  const seconds = openHistogram(registry, apiMetrics.seconds);
  const limitHits = openCounter(registry, apiMetrics.limitHits);
  const indexAnswers = openCounter(registry, apiMetrics.indexAnswers);
  // Export zeros from the start, because a rate needs a first value.
  for (const source of answerSources) indexAnswers.inc({ source }, 0);
  return {
    answered(request: AnsweredRequest): void {
      const method = METHODS.includes(request.method) ? request.method : OTHER;
      const { route, status } = request;
      requests.inc({ method, route, status });
      seconds.observe({ method, route }, request.seconds);
    },
    limitHit: (limit: string): void => limitHits.inc({ limit }),
    indexAnswer: (source: AnswerSource): void => indexAnswers.inc({ source }),
  };
}

export type ApiMeter = ReturnType<typeof createApiMeter>;

/** Measures every request that reaches the app. */
export const measureRequests =
  (meter: ApiMeter): MiddlewareHandler<ApiEnv> =>
  async (c, next) => {
    const begun = performance.now();
    await next();
    const { method } = c.req;
    // The last route that matched; of an unknown address, that of the middleware.
    const route = routePath(c, -1);
    meter.answered({ method, route, status: c.res.status, seconds: (performance.now() - begun) / 1000 });
    const limit = c.get("limitHit");
    if (limit !== undefined) meter.limitHit(limit);
  };
