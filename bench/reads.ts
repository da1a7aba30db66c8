/**
 * Indexed reads with 64 connections and a new block every two seconds, on small tables and on millions of rows. They are
 * compared with bare Hono servers that send the same answer and the same body from memory, and with Ponder's GraphQL, in the same
 * run.
 */
import { answerOf, withoutHeaders } from "./bare-answer.ts";
import { withBenchStack } from "./bench-stack.ts";
import { ABOVE_ALL, fillIndex, million, type Sizes, small, walletOf } from "./fill-index.ts";
import { inTurn, type Load, load, middle, type Request } from "./http-load.ts";
import { prepareReads, type ReadsStack } from "./reads-stack.ts";
import { type Finding, report } from "./report.ts";

const ROUNDS = Number(process.env.BENCH_READS_ROUNDS || 3);
/** `small` leaves the millions of rows out. */
const ROWS = process.env.BENCH_READS_ROWS || "million";

/** Sums and feeds must reach this share of the throughput of a bare server that sends the same answer, headers and all. */
const OF_BARE = 0.85;
/** The protocol's sums must reach this share of a bare server that sends the body alone. */
const PROTOCOL = "/api/v1/stats/protocol";
const PROTOCOL_OF_BODY = 0.7;
/** Wallet reads must reach this multiple of GraphQL's throughput where nobody asked before, and should where pages poll. */
const FRESH_OF_GRAPHQL = 5;
const POLLED_OF_GRAPHQL = 10;
/** On millions of rows, throughput must reach this share of that on small tables. */
const OF_SMALL = Number((1 / 1.3).toFixed(2));
/** Wallets that are read repeatedly, as by pages that poll. */
const POLLED_WALLETS = 100;

const feeds = [
  "/api/v1/stats/burns",
  PROTOCOL,
  "/api/v1/stats/activity",
  "/api/v1/stats/token-price-history?range=30d&limit=40",
  "/api/v1/triggers/recent",
  "/api/v1/marketplace/active-listings",
  "/api/v1/marketplace/recent-sales",
  "/api/v1/burns/recent",
  "/api/v1/stats/cover",
  "/api/v1/stats/products",
  "/api/v1/stats/series?metric=new_buyers&interval=month",
  "/api/v1/stats/vault",
  "/api/v1/stats/bonds/maturities",
  "/api/v1/stats/queue",
  "/api/v1/stats/claims",
  "/api/v1/stats/holders",
  "/api/v1/stats/market",
  "/api/v1/stats/burners",
  "/api/v1/policies/all?status=Active",
];

const policyFields =
  "productId policyId shield buyer coverage payout premium priceSnapshot createdAt waitingEndsAt expiresAt triggeredAt cancelledAt bondEpochId strike triggerPrice txHash blockNumber logIndex";

const wallets = (count: number) => [
  {
    what: "policies/by-buyer",
    pathOf: (n: number) => `/api/v1/policies/by-buyer/${walletOf(n, count)}`,
    // After a position above all rows, another one each time: the same rows.
    freshOf: (n: number) => `/api/v1/policies/by-buyer/${walletOf(n, count)}?cursor=${ABOVE_ALL + n}-0`,
    graphql: (n: number) =>
      `{ policys(where: {buyer: "${walletOf(n, count)}"}, orderBy: "blockNumber", orderDirection: "desc", limit: 50) { items { ${policyFields} } totalCount } }`,
  },
  {
    what: "bonds/by-owner",
    pathOf: (n: number) => `/api/v1/bonds/by-owner/${walletOf(n, count)}`,
    // Each limit is above the number of a wallet's bonds: the same rows.
    freshOf: (n: number) =>
      `/api/v1/bonds/by-owner/${walletOf(n, count)}?limit=${50 + (Math.floor(n / count) % 51)}`,
    graphql: (n: number) =>
      `{ bondHoldings(where: {owner: "${walletOf(n, count)}", balance_gt: "0"}, orderBy: "epochId", limit: 50) { items { owner epochId balance } totalCount } }`,
  },
];

/** Throughput as a share of a bare server's beside it: the machine may be slower when the large tables are measured. */
type Figures = Map<string, number>;

async function measureFeeds(stack: ReadsStack, findings: Finding[], figures: Figures): Promise<void> {
  for (const path of feeds) {
    const answer = await answerOf(`${stack.apiUrl}${path}`);
    const [same, alone, ours]: [Load[], Load[], Load[]] = [[], [], []];
    await stack.withBare(answer, (sameUrl) =>
      stack.withBare(withoutHeaders(answer.body), async (aloneUrl) => {
        for (let round = 0; round < ROUNDS; round += 1) {
          same.push(await load(sameUrl, { path }));
          ours.push(await load(stack.apiUrl, { path }));
          alone.push(await load(aloneUrl, { path }));
        }
      }),
    );
    const { perSecond, p99 } = middle(ours);
    const reference = middle(same).perSecond;
    figures.set(path, perSecond / reference);
    const common = { value: perSecond, unit: "/s" };
    findings.push(
      {
        ...common,
        what: `${path.replace("/api/v1/", "")} (${answer.body.length} bytes)`,
        compared: { with: reference, limit: OF_BARE },
      },
      {
        ...common,
        what: "  against the body alone",
        compared: {
          with: middle(alone).perSecond,
          ...(path === PROTOCOL ? { limit: PROTOCOL_OF_BODY, least: OF_BARE } : {}),
        },
      },
      { what: "  p99", value: p99, unit: "ms" },
    );
  }
}

async function measureWallets(
  stack: ReadsStack,
  sizes: Sizes,
  findings: Finding[],
  figures: Figures,
): Promise<void> {
  for (const { what, pathOf, freshOf, graphql } of wallets(sizes.wallets)) {
    const [polled, fresh, other, bare]: [Load[], Load[], Load[], Load[]] = [[], [], [], []];
    let asked = 0;
    const next = () => {
      asked += 1;
      return asked;
    };
    const ask: Request = {
      method: "POST",
      path: "/graphql",
      headers: { "content-type": "application/json" },
    };
    const setupRequest = (request: Request) => ({
      ...request,
      body: JSON.stringify({ query: graphql(next()) }),
    });
    const answer = await answerOf(`${stack.apiUrl}${pathOf(0)}`);
    await stack.withBare(answer, async (bareUrl) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        bare.push(await load(bareUrl, { path: pathOf(0) }));
        polled.push(
          await load(
            stack.apiUrl,
            inTurn(() => pathOf(next() % POLLED_WALLETS)),
          ),
        );
        fresh.push(
          await load(
            stack.apiUrl,
            inTurn(() => freshOf(next())),
          ),
        );
        other.push(await load(stack.graphqlUrl, { ...ask, setupRequest }));
      }
    });
    const reference = middle(other);
    findings.push({ what: `${what}, by GraphQL`, value: reference.perSecond, unit: "/s" });
    for (const [kind, loads, aim] of [
      ["polled", polled, { least: POLLED_OF_GRAPHQL }],
      ["nobody asked before", fresh, { limit: FRESH_OF_GRAPHQL }],
    ] as const) {
      const { perSecond, p99 } = middle(loads);
      figures.set(`${what}, ${kind}`, perSecond / middle(bare).perSecond);
      findings.push(
        {
          what: `${what}, ${kind}`,
          value: perSecond,
          unit: "/s",
          compared: { with: reference.perSecond, ...aim },
        },
        { what: "  p99", value: p99, unit: "ms" },
      );
    }
  }
}

async function measure(stack: ReadsStack, sizes: Sizes): Promise<Figures> {
  const rows = `${sizes.policies} policies, ${sizes.burns} burns`;
  const now = await stack.now();
  await stack.withoutBlocks(() => fillIndex(stack.sql, stack.schema, sizes, now));
  // The rows of years have been vacuumed and written to disk. The first reads of new rows do that work too, and take several times as long.
  await stack.sql`vacuum`;
  await stack.sql`checkpoint`;
  const figures: Figures = new Map();
  const [byFeed, byWallet]: [Finding[], Finding[]] = [[], []];
  await measureFeeds(stack, byFeed, figures);
  await measureWallets(stack, sizes, byWallet, figures);
  report(`Sums and feeds against a bare Hono server, on ${rows}`, byFeed);
  report(`Wallets against Ponder's GraphQL, on ${rows}`, byWallet);
  return figures;
}

/** The seeded history begins 800 days ago. */
const genesis = () => BigInt(Math.floor(Date.now() / 1000) - 800 * 86_400);

export const benchReads = (): Promise<void> =>
  withBenchStack({ timestamp: genesis(), postgres: { max_wal_size: "2GB" } }, async (bench) => {
    const stack = await prepareReads(bench);
    const onSmall = await measure(stack, small);
    if (ROWS === "small") return;
    const onMillions = await measure(stack, million);
    report(
      "Millions of rows against small tables",
      [...onMillions].map(([what, value]) => ({
        what: what.replace("/api/v1/", ""),
        value: 100 * value,
        unit: "% of a bare server",
        compared: { with: 100 * (onSmall.get(what) ?? Number.NaN), limit: OF_SMALL },
      })),
    );
  });
