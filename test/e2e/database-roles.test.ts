/**
 * A database as in production: its owner, with which writer and indexer log in, is no superuser, and the api's login may do
 * nothing but take on the role `cover_api`; the database has another style of dates and another time zone. What this proves: the
 * api creates nothing and works once the others have migrated; its rights survive a new build of the indexer, which replaces the
 * views, and a restart of every process; times are read as they were written.
 */
import postgres from "postgres";
import { beforeAll, expect, inject, test } from "vitest";
import { z } from "zod";
import { anvilAccount } from "../../lib/chain/client.ts";
import { API_ROLE } from "../../lib/db/api-role.ts";
import { openProtocol } from "../../scripts/local/protocol/actions/index.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { admin, failure, type TestApi } from "../api/support/api.ts";
import { type Buyer, createBuyer, receiptOf } from "../api/support/buyer.ts";
import { startChangedIndexer, waitForOtherSchema } from "../src/support/changed-build.ts";
import { servedSchema } from "../src/support/rows.ts";
import { startChain } from "../support/chain.ts";
import { atEnd } from "../support/cleanup.ts";
import { freshDatabase } from "../support/database.ts";
import { checkedRequests } from "../support/openapi.ts";
import { startStack } from "../support/stack.ts";

let sql: postgres.Sql;
let api: TestApi;
let buyer: Buyer;

/** Creates the logins as docs/operating.md says. @returns the URLs of an empty database for its owner and for the api. */
async function databaseWithLogins(): Promise<{ owner: string; api: string }> {
  const server = postgres(inject("postgresUrl"), { max: 1 });
  // Registered first, so that it runs once the database is dropped.
  const logins: string[] = [];
  atEnd(async () => {
    for (const login of logins) await server`drop role ${server(login)}`;
    await server.end();
  });
  const url = new URL(await freshDatabase({ empty: true }));
  const name = url.pathname.slice(1);
  const login = async (suffix: string, options: string) => {
    const role = `${name}_${suffix}`;
    await server.unsafe(`create role ${role} login ${options}`);
    logins.push(role);
    url.username = role;
    return { role, url: url.href };
  };
  const owner = await login("owner", "");
  // Without INHERIT a connection that does not take on the role may do nothing at all.
  const restricted = await login("api", `noinherit in role ${API_ROLE}`);
  await server`alter database ${server(name)} owner to ${server(owner.role)}`;
  for (const foreign of ["DateStyle = 'SQL, DMY'", "TimeZone = 'Asia/Kolkata'", "lock_timeout = '1ms'"]) {
    await server.unsafe(`alter database ${name} set ${foreign}`);
  }
  return { owner: owner.url, api: restricted.url };
}

beforeAll(async () => {
  const urls = await databaseWithLogins();
  sql = postgres(urls.owner, { max: 1, onnotice: () => {} });
  atEnd(() => sql.end());
  const chain = await startChain();
  const env = { api: { DATABASE_URL: urls.api } };
  const stack = await startStack({ chain, databaseUrl: urls.owner, services: ["api"], env });
  const request = await checkedRequests(stack.apiUrl);
  api = { chain, stack, request, protocol: openProtocol(chain.deployment, chain.url) };
});

const dated = z.object({ createdAt: z.coerce.date() });

/** Buys a policy, and waits until the index shows it. */
async function buyAndRead(): Promise<void> {
  const answer = await buyer.buy({}, { "idempotency-key": crypto.randomUUID() });
  expect(answer.status, answer.text).toBe(201);
  const { productId, policyId, purchaseId } = receiptOf(answer);
  const { json } = await api.request(`/api/v1/purchases/${purchaseId}`, { headers: buyer.headers });
  const { createdAt } = dated.parse(json);
  expect(Math.abs(Date.now() - createdAt.getTime())).toBeLessThan(600_000);
  await waitFor({
    what: "the policy in the index",
    probe: async () => {
      const { status, json } = await api.request(
        `/api/v1/policies/by-buyer/${buyer.account.address}?limit=100`,
      );
      return (status === 200 && JSON.stringify(json).includes(`"policyId":"${policyId}"`)) || undefined;
    },
  });
  expect((await api.request(`/policies/${productId}/${policyId}`)).status).toBe(200);
}

test("on an empty database the api creates nothing, and answers 503", async () => {
  const answer = await api.request("/api/v1/keys/generate", {
    headers: admin,
    body: { wallet: anvilAccount(2).address },
  });
  expect(failure(answer)).toEqual([503, "database_unavailable"]);
  expect(failure(await api.request("/api/v1/stats/protocol"))).toEqual([503, "database_unavailable"]);
  const schemas =
    await sql`select nspname from pg_namespace where nspname !~ '^(pg_.*|public|information_schema)$'`;
  expect([...schemas]).toEqual([]);
});

test("once writer and indexer have migrated it, a purchase and reads work", async () => {
  await Promise.all([api.stack.start("writer"), api.stack.start("indexer")]);
  buyer = await createBuyer(api, anvilAccount(2));
  await buyAndRead();
});

test("they work after a new build of the indexer and a restart of every process", {
  timeout: 600_000,
}, async () => {
  const old = await servedSchema(sql);
  await waitForOtherSchema(sql, old, { indexer: await startChangedIndexer(api.stack) });
  await buyAndRead();
  await Promise.all([api.stack.restart("writer"), api.stack.restart("api")]);
  await buyAndRead();
  expect(api.stack.output("api")).not.toContain("could not wake the writer");
  expect(api.stack.output("api")).not.toContain('"code":"internal_error"');
});
