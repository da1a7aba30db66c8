/**
 * Indexed reads, with a new block every two seconds, on 10,000 and on 1,000,000 policies: hot ones beside a bare Hono server that
 * sends the same answer with the same headers from memory, and a buyer's page that nobody asked for beside Ponder's GraphQL.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import autocannon from "autocannon";
import { freePort } from "../scripts/local/ports.ts";
import { seedHistory } from "../scripts/local/seed.ts";
import { waitFor } from "../scripts/local/wait.ts";
import { ABOVE_ALL, fillIndex, million, type Sizes, small, walletOf } from "./fill-index.ts";
import { takeOverMining } from "./miner.ts";
import { type Finding, median, report } from "./report.ts";
import { atEnd, type BenchStack, startProgram, withBenchStack } from "./stack.ts";

const ROUNDS = 3;
const SECONDS = 2;
const CONNECTIONS = 50;
/** The time between two blocks of an Ethereum L2, in ms. Each new block invalidates the cached answers. */
const BLOCK_MS = 2000;
const OF_BARE = 0.6;
const HOT_P99_MS = 20;
const OF_GRAPHQL = 3;

/** Sums, feeds and lists that pages poll. */
const hotPaths = [
  "/api/v1/stats/protocol",
  "/api/v1/stats/cover",
  "/api/v1/stats/activity",
  "/api/v1/triggers/recent",
  "/api/v1/marketplace/active-listings",
  "/api/v1/policies/all?status=Active",
];

const policyFields =
  "productId policyId shield buyer coverage payout premium priceSnapshot createdAt expiresAt triggeredAt bondEpochId strike triggerPrice txHash blockNumber logIndex";
/** A buyer's page. After a position above all rows, another one each time: the same rows under an address that nobody asked for. */
const pathOf = (n: number, wallets: number) =>
  `/api/v1/policies/by-buyer/${walletOf(n, wallets)}?cursor=${ABOVE_ALL + n}-0`;
const graphqlOf = (n: number, wallets: number) =>
  JSON.stringify({
    query: `{ policys(where: {buyer: "${walletOf(n, wallets)}"}, orderBy: "blockNumber", orderDirection: "desc", limit: 50) { items { ${policyFields} } totalCount } }`,
  });

type Load = { readonly perSecond: number; readonly p99: number };
type Request = NonNullable<Parameters<typeof autocannon>[0]["requests"]>[number];

/** Asks as often as the connections allow. @throws when an answer is missing or no 2xx */
async function load(url: string, request: Request): Promise<Load> {
  const result = await autocannon({ url, connections: CONNECTIONS, duration: SECONDS, requests: [request] });
  if (result.errors > 0 || result.non2xx > 0) {
    const statuses = JSON.stringify(result.statusCodeStats);
    throw new Error(`${url}${request.path ?? ""}: ${result.errors} errors, answers by status: ${statuses}`);
  }
  return { perSecond: result.requests.average, p99: result.latency.p99 };
}

const middle = (loads: readonly Load[]): Load => ({
  perSecond: median(loads.map(({ perSecond }) => perSecond)),
  p99: median(loads.map(({ p99 }) => p99)),
});

/** Headers that each server writes by itself. */
const OWN = new Set(["connection", "content-length", "date", "keep-alive"]);

/** Starts a bare server with the api's present answer, runs `use` with its URL, and stops it. */
async function withBare(
  stack: BenchStack,
  url: string,
  use: (bareUrl: string) => Promise<void>,
): Promise<void> {
  const answer = await fetch(url);
  const headers = Object.fromEntries([...answer.headers].filter(([name]) => !OWN.has(name)));
  const port = await freePort();
  const file = join(stack.folder, `answer-${port}.json`);
  writeFileSync(file, JSON.stringify({ headers, body: await answer.text() }));
  const bare = await startProgram(stack, "bare-server.ts", [String(port), file]);
  const bareUrl = `http://127.0.0.1:${port}`;
  await waitFor({ what: "the bare server", probe: async () => (await fetch(bareUrl)).ok || undefined });
  await use(bareUrl);
  await bare.stop();
}

async function measureHot(stack: BenchStack, apiUrl: string): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const path of hotPaths) {
    const [bare, ours]: [Load[], Load[]] = [[], []];
    await withBare(stack, `${apiUrl}${path}`, async (bareUrl) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        bare.push(await load(bareUrl, { path }));
        ours.push(await load(apiUrl, { path }));
      }
    });
    const { perSecond, p99 } = middle(ours);
    const name = path.replace("/api/v1/", "");
    const of = perSecond / middle(bare).perSecond;
    findings.push(
      { what: `${name}, of bare Hono`, value: of, unit: "", atLeast: OF_BARE },
      { what: "  answers", value: perSecond, unit: "/s" },
      { what: `${name}, 99th percentile`, value: p99, unit: "ms", atMost: HOT_P99_MS },
    );
  }
  return findings;
}

async function measureFresh(apiUrl: string, graphqlUrl: string, { wallets }: Sizes): Promise<Finding[]> {
  const [fresh, graphql]: [Load[], Load[]] = [[], []];
  let asked = 0;
  const next = () => {
    asked += 1;
    return asked;
  };
  const page: Request = { setupRequest: (request) => ({ ...request, path: pathOf(next(), wallets) }) };
  const query: Request = {
    method: "POST",
    path: "/graphql",
    headers: { "content-type": "application/json" },
    setupRequest: (request) => ({ ...request, body: graphqlOf(next(), wallets) }),
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    fresh.push(await load(apiUrl, page));
    graphql.push(await load(graphqlUrl, query));
  }
  const [ours, theirs] = [middle(fresh), middle(graphql)];
  const times = ours.perSecond / theirs.perSecond;
  return [
    { what: "a page nobody asked for, times Ponder's GraphQL", value: times, unit: "", atLeast: OF_GRAPHQL },
    { what: "  pages", value: ours.perSecond, unit: "/s" },
    { what: "  99th percentile", value: ours.p99, unit: "ms" },
    { what: "  by GraphQL", value: theirs.perSecond, unit: "/s" },
  ];
}

/** The seeded history begins 800 days ago. */
const genesis = () => BigInt(Math.floor(Date.now() / 1000) - 800 * 86_400);

export const benchReads = (): Promise<void> =>
  withBenchStack({ timestamp: genesis(), postgres: { max_wal_size: "2GB" } }, async (stack) => {
    const { chain, sql } = stack;
    await seedHistory({ rpcUrl: chain.url, deployment: chain.deployment });
    const { apiUrl, ponderUrl } = await stack.startServices(["indexer", "api"], {
      rpcWsUrl: chain.wsUrl,
      more: { api: { PUBLIC_RATE_LIMIT: "1000000000" } },
    });
    const { mine } = await takeOverMining(stack.protocol);
    await mine([]); // over a websocket Ponder reads the newest 30 blocks only then
    const { schema, now } = await waitFor({
      what: "the index's head",
      probe: async () => {
        const [row] = await sql<{ schema: string; now: string }[]>`
          select (select min(table_schema) from information_schema.view_table_usage
            where view_schema = 'indexer' and table_schema <> 'indexer') as schema, timestamp::text as now
          from indexer.head`;
        return row;
      },
    });
    for (const sizes of [small, million]) {
      await fillIndex(sql, schema, sizes, Number(now));
      // The rows of years have been vacuumed and written to disk. The first reads of new rows do that work too, and take several times as long.
      await sql`vacuum`;
      await sql`checkpoint`;
      const miner = setInterval(() => mine([]).catch(() => {}), BLOCK_MS);
      await atEnd(() => clearInterval(miner));
      const findings = [
        ...(await measureHot(stack, apiUrl)),
        ...(await measureFresh(apiUrl, ponderUrl, sizes)),
      ];
      clearInterval(miner);
      report(`reads: ${sizes.policies} policies, medians of ${ROUNDS} rounds`, findings);
    }
  });
