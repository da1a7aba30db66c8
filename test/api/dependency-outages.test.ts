/** Responses while the database or the chain is down, and after it recovers. Real servers stop and start. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { z } from "zod";
import { anvilAccount } from "../../lib/chain/client.ts";
import { API_ROLE } from "../../lib/db/api-role.ts";
import { migrateService } from "../../lib/db/migrate.ts";
import { productIdOf } from "../../lib/products.ts";
import { type Anvil, type AnvilOptions, startAnvil } from "../../scripts/local/anvil.ts";
import { signalPid } from "../../scripts/local/pids.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { atEnd } from "../support/cleanup.ts";
import { mayRest } from "../support/database.ts";
import type { HttpAnswer, HttpRequest } from "../support/http.ts";
import { type CheckedRequest, checkedRequests } from "../support/openapi.ts";
import { type OwnPostgres, startOwnPostgres } from "../support/own-postgres.ts";
import { recordPid } from "../support/run-folder.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { admin, failure, issueKey, newWallet } from "./support/api.ts";

/** Maximum response time, whatever is down: 5 s, plus 4.5 s for a busy machine; less than the statement timeout. */
const MAX_RESPONSE_MS = 5000 + 4500;
const wallet = anvilAccount(2).address;
const unknownKey = { "x-api-key": `lk_${"a".repeat(64)}` };
const policy = `/policies/${productIdOf("FLASHBTC1H-001")}/1`;
const byBuyer = `/api/v1/policies/by-buyer/${wallet}`;

let chain: TestChain;
let stack: Stack;
let request: CheckedRequest;
let chainOptions: AnvilOptions;
let database: OwnPostgres;
let anvil: Anvil;

async function startChainAgain(): Promise<void> {
  anvil = await startAnvil(chainOptions);
  recordPid(inject("runFolder"), anvil.pid);
  atEnd(() => anvil.stop());
}

beforeAll(async () => {
  const state = join(inject("runFolder"), "outages-state.json");
  chain = await startChain({ args: ["--state", state] });
  const port = Number(new URL(chain.url).port);
  chainOptions = { port, chainId: 8453, args: ["--state", state], logFile: `${state}.log` };
  await chain.stop();

  database = await startOwnPostgres("outages");
  await database.stop();

  stack = await startStack({ chain, databaseUrl: database.databaseUrl, services: ["api"] });
  request = await checkedRequests(stack.apiUrl);
});

/** Sends a request that must get a response within `MAX_RESPONSE_MS`. */
async function quick(path: string, options?: HttpRequest): Promise<HttpAnswer> {
  const begun = performance.now();
  const answer = await request(path, options);
  expect(performance.now() - begun, path).toBeLessThan(MAX_RESPONSE_MS);
  if (answer.status === 503) expect(Number(answer.headers.get("retry-after")), path).toBeGreaterThan(0);
  return answer;
}

const reasons = z.object({ status: z.string(), reasons: z.array(z.object({ code: z.string() })) });
async function healthReasons(): Promise<string[]> {
  const answer = await quick("/health");
  expect(answer.status).toBe(200);
  return reasons
    .parse(answer.json)
    .reasons.map((r) => r.code)
    .sort();
}

const generate = () => quick("/api/v1/keys/generate", { headers: admin, body: { wallet: newWallet() } });
const poll = { interval: 200 };

test("without database and chain the api starts, reports both in /health, and responds in time", async () => {
  expect(await healthReasons()).toEqual(["chain_not_found", "database_unavailable"]);
  expect((await quick("/openapi.json")).status).toBe(200);
  const expected: [path: string, code: string, options?: HttpRequest][] = [
    ["/products", "chain_not_found"],
    ["/api/v1/products", "chain_not_found"],
    ["/api/v1/live-stats", "chain_not_found"],
    [`/products/${productIdOf("FLASHBTC1H-001")}`, "chain_not_found"],
    [policy, "chain_not_found"],
    [byBuyer, "database_unavailable"],
    ["/api/v1/stats/activity", "database_unavailable"],
    ["/api/v1/stats/activity", "database_unavailable", { headers: unknownKey }],
    ["/api/v1/marketplace/listings", "database_unavailable"],
    ["/api/v1/marketplace/listings/1", "database_unavailable"],
    ["/api/v1/marketplace/stats", "database_unavailable"],
    ["/api/v1/marketplace/history", "database_unavailable"],
    [`/api/v1/bonds/${wallet}`, "database_unavailable", { headers: unknownKey }],
    ["/api/v1/auth/me", "database_unavailable", { headers: unknownKey }],
    ["/api/v1/policies", "database_unavailable", { headers: unknownKey, body: {} }],
    ["/api/v1/oracle/sign-proof", "database_unavailable", { headers: unknownKey, body: { asset: "BTC" } }],
    // The default token is allowed only on a local chain: until the chain is known, the api refuses it.
    ["/api/v1/keys/generate", "chain_not_found", { headers: admin, body: { wallet } }],
  ];
  await Promise.all(
    expected.map(async ([path, code, options]) =>
      expect(failure(await quick(path, options)), path).toEqual([503, code]),
    ),
  );
  expect(failure(await generate())[0]).toBe(503);
  expect(failure(await quick("/api/v1/indexer/health"))[0]).toBe(503);
});

test("60 simultaneous calls each get 503 in time", async () => {
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, i) => quick(i % 2 ? byBuyer : "/products", {})),
  );
  expect(new Set(answers.map((a) => a.status))).toEqual(new Set([503]));
});

test("on a database that nobody has migrated the api answers 503, and creates nothing", async () => {
  await startChainAgain();
  await expect.poll(async () => (await quick("/products")).status, poll).toBe(200);
  expect(failure(await generate())).toEqual([503, "database_unavailable"]);
  await database.start();
  // Postgres has refused sessions of the api, because its role does not exist: the api has reached the database.
  const refused = () => stack.output("api").includes(`role \\"${API_ROLE}\\" does not exist`);
  await expect.poll(async () => failure(await generate()).join(" ") && refused(), poll).toBe(true);
  expect(failure(await generate())).toEqual([503, "database_unavailable"]);
  expect(await healthReasons()).toEqual(["database_unavailable"]);
  const admin = postgres(database.databaseUrl, { max: 1 });
  const created = await admin`
    select nspname as name from pg_namespace where nspname !~ '^(pg_.*|public|information_schema)$'
    union all select rolname from pg_roles where rolname = ${API_ROLE}`;
  await admin.end();
  expect([...created]).toEqual([]);
});

test("once both are up and somebody has migrated, the api works without a restart", async () => {
  await migrateService(database.databaseUrl);
  await expect.poll(async () => (await generate()).status, poll).toBe(201);
  await expect.poll(healthReasons, poll).toEqual(["indexer_unavailable", "relayer_unavailable"]);
});

describe("a dependency fails again", () => {
  let headers: Record<string, string>;
  beforeAll(async () => {
    headers = (await issueKey(request)).headers;
  });
  const me = () => quick("/api/v1/auth/me", { headers });

  test.each(["stopped", "hanging"])("while the database is %s a key gets 503", async (how) => {
    expect((await me()).status).toBe(200);
    const blocker = postgres(database.databaseUrl, { max: 1, onnotice: () => {} });
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    if (how === "stopped") await database.stop();
    else {
      await new Promise<void>((locked) => {
        void blocker.begin(async (sql) => {
          await mayRest(sql);
          await sql`lock table service.api_key in access exclusive mode`;
          locked();
          await held;
        });
      });
    }
    const [products, policyRead, ...answers] = await Promise.all([
      quick("/products"),
      quick(`/api/v1${policy}`, { headers }),
      ...Array.from({ length: 30 }, me),
    ]);
    for (const answer of answers) expect(failure(answer)).toEqual([503, "database_unavailable"]);
    expect(products.status).toBe(200);
    // A public read needs no key: one that cannot be looked up is ignored.
    expect(failure(policyRead)).toEqual([404, "policy_not_found"]);
    if (how === "stopped") await database.start();
    release();
    await expect.poll(async () => (await me()).status, poll).toBe(200);
    await blocker.end({ timeout: 1 });
  });

  test("the database ends sessions and restarts during indexed reads: they get only 503", async () => {
    let running = true;
    const seen = new Map<string, number>();
    const clients = Array.from({ length: 12 }, async () => {
      while (running) {
        const code = failure(await quick(byBuyer)).join(" ");
        seen.set(code, (seen.get(code) ?? 0) + 1);
      }
    });
    const killer = postgres(database.databaseUrl, { max: 1, onnotice: () => {} });
    for (let i = 0; i < 20; i += 1) {
      await killer`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'api'`;
      await sleep(50);
    }
    await killer.end();
    await database.stop();
    await database.start();
    await expect.poll(async () => failure(await quick(byBuyer)), poll).toEqual([503, "indexer_unavailable"]);
    running = false;
    await Promise.all(clients);
    expect([...seen.keys()].sort()).toEqual(["503 database_unavailable", "503 indexer_unavailable"]);
  });

  test("the chain's node hangs: chain reads get 503 until it recovers", async () => {
    signalPid(anvil.pid, "SIGSTOP");
    const paths = ["/products", policy, `/products/${productIdOf("FLASHBTC1H-001")}`, "/api/v1/live-stats"];
    await Promise.all([
      ...paths.map((path) =>
        expect.poll(async () => failure(await quick(path)), poll).toEqual([503, "chain_not_found"]),
      ),
      expect.poll(healthReasons, poll).toContain("chain_not_found"),
    ]);
    expect((await me()).status).toBe(200);
    signalPid(anvil.pid, "SIGCONT");
    await expect.poll(async () => (await quick("/products")).status, poll).toBe(200);
    expect(failure(await quick(policy))).toEqual([404, "policy_not_found"]);
  });
});
