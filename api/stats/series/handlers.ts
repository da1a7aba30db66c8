import type { Hex } from "viem";
import { ApiError } from "../../../lib/errors.ts";
import type { Api } from "../../http/env.ts";
import type { Period } from "../../http/paging.ts";
import type { StatsParts } from "../stats-parts.ts";
import { type Bucket, bucketName, bucketsBefore, bucketsFrom, type Interval } from "./buckets.ts";
import { type BucketSums, readSeries, unitOf } from "./queries.ts";
import { MAX_BUCKETS, type Metric, seriesRoute, USUAL_BUCKETS } from "./routes.ts";

type SeriesQuery = Period & {
  readonly metric: Metric;
  readonly interval: Interval;
  readonly product?: Hex | undefined;
};

/** The buckets of a query, at the indexed block's time `now`. @throws ApiError `validation_error` for too many */
function bucketsOf({ interval, from, to }: SeriesQuery, now: bigint): Bucket[] {
  const last = to === undefined || to > now ? now : to - 1n;
  if (last < 0n) return [];
  const usual = bucketsBefore(interval, last, USUAL_BUCKETS - 1);
  const start = from ?? (usual > 0n ? usual : 0n);
  const buckets = bucketsFrom(interval, start, last, MAX_BUCKETS);
  if (buckets) return buckets;
  const earliest = bucketsBefore(interval, last, MAX_BUCKETS - 1);
  const message = `must be ${earliest} or later: a series has at most ${MAX_BUCKETS} buckets`;
  throw new ApiError("validation_error", `from ${message}`, { details: [{ path: "from", message }] });
}

const bucketBody = (bucket: Bucket, sums: BucketSums | undefined, now: bigint) => ({
  day: bucketName(bucket),
  start: String(bucket.start),
  end: String(bucket.end),
  complete: bucket.end <= now,
  value: String(sums?.value ?? 0),
  events: sums?.events ?? 0,
});

export function addSeriesRoute(app: Api, { index, responses }: StatsParts): void {
  const series = responses.define(
    (query: SeriesQuery) =>
      index.read(async (db, asOf) => {
        const buckets = bucketsOf(query, (await asOf).timestamp);
        return { buckets, sums: await readSeries(db, query, buckets) };
      }),
    ({ buckets, sums }, { metric, interval, product = null }, { timestamp }) => ({
      ...{ metric, interval, product, unit: unitOf(metric), count: buckets.length },
      buckets: buckets.map((bucket, place) =>
        bucketBody(
          bucket,
          sums.find((row) => row.bucket === place),
          timestamp,
        ),
      ),
    }),
  );
  app.openapi(seriesRoute, async (c) => responses.send(c, await series(c.req.valid("query")), seriesRoute));
}
