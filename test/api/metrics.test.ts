/**
 * The metrics of api and writer, from real processes, and what Prometheus and Grafana make of them. What this proves: every described
 * metric is exported as described, no alert rule and no panel names another, and the API counts its answers without a label that
 * clients choose.
 */
import { beforeAll, expect, test } from "vitest";
import { catalogue } from "../../lib/metrics/catalogue.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { rows } from "../../scripts/monitoring/board.ts";
import { rules } from "../../scripts/monitoring/rules.ts";
import { startChain, startTestnet, type TestChain } from "../support/chain.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { namesWith, type Samples, scrape, scrapeUntil } from "../workers/support/metrics.ts";

let chain: TestChain;
let stack: Stack;

beforeAll(async () => {
  chain = await startChain();
  const testnet = await startTestnet();
  stack = await startStack({ chain, testnet, keeper: true, env: { api: { FAILED_CREDENTIALS_LIMIT: "3" } } });
});

type Exported = { readonly kind: string; readonly help: string };

/** The metrics of a process by name, with or without samples. */
async function exportedBy(url: string): Promise<ReadonlyMap<string, Exported>> {
  const text = await (await fetch(url)).text();
  const helps = new Map(
    [...text.matchAll(/^# HELP (\S+) (.*)$/gm)].map(([, name = "", help = ""]) => [name, help]),
  );
  const kinds = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  return new Map(kinds.map(([, name = "", kind = ""]) => [name, { kind, help: helps.get(name) ?? "" }]));
}

const exported = async () =>
  new Map([...(await exportedBy(stack.metricsUrl)), ...(await exportedBy(stack.apiMetricsUrl))]);

/** Words of PromQL that are no functions. */
const KEYWORDS = ["by", "or", "bool"];
/** Prometheus makes it itself. */
const OF_PROMETHEUS = ["up"];

/** The metrics that an expression names. */
function metricsIn(expression: string): string[] {
  const bare = expression.replace(/\{[^}]*\}|\[[^\]]*\]|\bby \([^)]*\)/g, " ");
  const words = [...bare.matchAll(/\b[a-zA-Z_][a-zA-Z0-9_]*\b(?!\s*\()/g)].map(([word]) => word);
  return words.filter((word) => !KEYWORDS.includes(word) && !OF_PROMETHEUS.includes(word));
}

test("api and writer export every described metric as it is described", async () => {
  const found = await exported();
  for (const { name, kind, help } of catalogue) {
    expect(found.get(name)?.kind, name).toBe(kind);
    // Those of Node itself are described by their package.
    if (!/^(process|nodejs)_/.test(name)) expect(found.get(name)?.help, name).toBe(help);
  }
  const described = catalogue.map(({ name }) => name);
  const ours = [...found.keys()].filter((name) => !/^(process|nodejs)_/.test(name));
  expect(ours.filter((name) => !described.includes(name))).toEqual([]);
});

test("no alert rule and no panel names a metric that no process exports", async () => {
  const found = await exported();
  const names = new Set(
    [...found].flatMap(([name, { kind }]) =>
      kind === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
  const expressions = [
    ...rules.map(({ expression }) => expression),
    ...rows.flatMap(({ panels }) => panels.flatMap(({ lines }) => Object.values(lines))),
  ];
  for (const expression of expressions) {
    const named = metricsIn(expression);
    if (expression !== "up == 0") expect(named, expression).not.toEqual([]);
    for (const name of named) expect(names, expression).toContain(name);
  }
});

const counted = (samples: Samples, labels: string): number =>
  samples.get(`api_requests_total{${labels}}`) ?? 0;

test("the api counts requests by route and status, and their time", async () => {
  const route = 'method="GET",route="/api/v1/policies/:productId/:policyId"';
  const before = await scrape(stack.apiMetricsUrl);
  for (const id of ["1", "2"]) await stack.request(`/api/v1/policies/0x${"ab".repeat(32)}/${id}`);
  const after = await scrape(stack.apiMetricsUrl);
  const statuses = namesWith(after, `api_requests_total{${route}`);
  const total = statuses.reduce((sum, name) => sum + (after.get(name) ?? 0) - (before.get(name) ?? 0), 0);
  expect(total).toBe(2);
  const times = `api_request_seconds_count{${route}}`;
  expect((after.get(times) ?? 0) - (before.get(times) ?? 0)).toBe(2);
});

test("nothing that clients choose becomes a label", async () => {
  for (const path of ["/strange", "/stranger/still", "/policies/strange/x/y/z", "/health?strange=1"])
    await stack.request(path);
  await stack.request("/health", { method: "PROPFIND" });
  const after = await scrape(stack.apiMetricsUrl);
  expect([...after.keys()].filter((name) => /strange|PROPFIND/.test(name))).toEqual([]);
  expect(namesWith(after, 'api_requests_total{method="other"').length).toBe(1);
  expect(counted(after, 'method="GET",route="/health",status="200"')).toBeGreaterThan(0);
});

test("a request above a limit is counted for the limit", async () => {
  const path = `/api/v1/purchases/${crypto.randomUUID()}`;
  const statuses: number[] = [];
  for (const digit of ["1", "2", "3", "4", "5"]) {
    const headers = { "x-api-key": `lk_${digit.repeat(64)}` };
    statuses.push((await stack.request(path, { headers })).status);
  }
  const refused = statuses.filter((status) => status === 429).length;
  expect(refused, statuses.join()).toBeGreaterThan(0);
  const samples = await scrape(stack.apiMetricsUrl);
  expect(samples.get('api_limit_hits_total{limit="failed-keys"}')).toBe(refused);
});

test("answers of the index are counted by their source, also those from the cache", async () => {
  const source = (samples: Samples, from: string) =>
    samples.get(`api_index_answers_total{source="${from}"}`) ?? 0;
  const path = "/api/v1/stats/protocol";
  const labels = `method="GET",route="${path}",status="200"`;
  const before = await scrape(stack.apiMetricsUrl);
  let asked = 0;
  const after = await waitFor({
    what: "an answer from the cache",
    probe: async () => {
      expect((await stack.request(path)).status).toBe(200);
      asked += 1;
      const samples = await scrape(stack.apiMetricsUrl);
      return source(samples, "cache") > source(before, "cache") ? samples : undefined;
    },
  });
  expect(source(after, "database")).toBeGreaterThan(source(before, "database"));
  expect(counted(after, labels) - counted(before, labels)).toBe(asked);
});

test("the api shows its pools' waits and how far the index is behind, on a port of its own", async () => {
  const samples = await scrapeUntil(
    stack.apiMetricsUrl,
    "the index to have caught up",
    (found) => found.get("api_index_lag_blocks") === 0,
  );
  expect(namesWith(samples, "api_pool_wait_seconds").sort()).toEqual(
    ["api", "api-counts", "api-index"].map((pool) => `api_pool_wait_seconds{pool="${pool}"}`),
  );
  expect(samples.get("nodejs_eventloop_lag_p99_seconds")).toBeGreaterThan(0);
  expect((await stack.request("/metrics")).status).toBe(404);
  expect((await fetch(new URL("/health", stack.apiMetricsUrl))).status).toBe(404);
});

test("a metrics port that is taken is named", async () => {
  const port = new URL(stack.metricsUrl).port;
  const refused = await startStack({ chain, services: [], env: { api: { API_METRICS_PORT: port } } });
  const api = await refused.start("api", { wait: false });
  expect((await api.exited).code).toBe(1);
  expect(refused.output("api")).toContain(`API_METRICS_PORT ${port} is taken by another process`);
});
