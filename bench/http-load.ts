/** Requests as fast as a number of connections allows, by one client in this process. */
import autocannon from "autocannon";
import { median } from "./report.ts";

export const CONNECTIONS = 64;
const SECONDS = Number(process.env.BENCH_READS_SECONDS || 2);

export type Load = { readonly perSecond: number; readonly p99: number };
export type Request = NonNullable<Parameters<typeof autocannon>[0]["requests"]>[number];

/** Asks as often as the connections allow. @throws when an answer is missing or no 2xx. `duration`: in seconds. */
export async function load(
  url: string,
  request: Request,
  { connections = CONNECTIONS, duration = SECONDS } = {},
): Promise<Load> {
  const result = await autocannon({ url, connections, duration, requests: [request] });
  if (result.errors > 0 || result.non2xx > 0) {
    const statuses = JSON.stringify(result.statusCodeStats);
    throw new Error(`${url}${request.path ?? ""}: ${result.errors} errors, answers by status: ${statuses}`);
  }
  return { perSecond: result.requests.average, p99: result.latency.p99 };
}

/** The medians of some rounds. */
export const middle = (loads: readonly Load[]): Load => ({
  perSecond: median(loads.map((l) => l.perSecond)),
  p99: median(loads.map((l) => l.p99)),
});

/** A path for each request. */
export const inTurn = (nextPath: () => string): Request => ({
  setupRequest: (request) => ({ ...request, path: nextPath() }),
});
