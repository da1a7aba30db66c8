/**
 * The operator's routes over the real stack. What this proves: they show what is in flight, stopped and undelivered, and nothing
 * secret; only the admin token opens them; a stop applies at once and is lifted by the command line alone.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { anvilAccount } from "../../lib/chain/client.ts";
import { type Connection, connect } from "../../lib/db/connect.ts";
import { openProtocol } from "../../scripts/local/protocol/actions/index.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { runLedger } from "../scripts/support/ledger-command.ts";
import { startChain } from "../support/chain.ts";
import { atEnd } from "../support/cleanup.ts";
import { checkedRequests } from "../support/openapi.ts";
import { type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { startStack } from "../support/stack.ts";
import { admin, failure, issueKey, newWallet, type TestApi } from "./support/api.ts";
import { type Buyer, createBuyer } from "./support/buyer.ts";

let api: TestApi;
let rpc: RpcProxy;
let connection: Connection;
let buyer: Buyer;

beforeAll(async () => {
  const chain = await startChain({ blockTime: 1, mixedMining: true });
  rpc = await startRpcProxy(chain.url);
  const stack = await startStack({
    chain,
    services: ["api", "writer"],
    env: {
      api: { PURCHASE_WAIT_MS: "60000" },
      writer: { RPC_URL: rpc.url, GAS_BUDGET_ETH: "7", GAS_BUDGET_PER_WALLET_ETH: "3" },
    },
  });
  connection = connect(stack.databaseUrl, { name: "test", max: 2 });
  atEnd(() => connection.close());
  const request = await checkedRequests(stack.apiUrl);
  api = { chain, stack, request, protocol: openProtocol(chain.deployment, chain.url) };
  buyer = await createBuyer(api, anvilAccount(2));
});

const read = (path: string) => api.request(`/api/v1/admin/${path}`, { headers: admin });
const stop = (body: object) => api.request("/api/v1/admin/stops", { headers: admin, body });
const run = (...args: readonly string[]) => runLedger(api.stack.databaseUrl, args);

const stopSet = z.object({
  alreadyStopped: z.boolean(),
  known: z.boolean(),
  stop: z.object({ since: z.string(), reason: z.string(), setBy: z.string(), resume: z.string() }),
});
const stopList = z.object({
  nextCursor: z.string().nullable(),
  stops: z.array(
    z.object({
      scope: z.string(),
      wallet: z.string().nullable(),
      keyId: z.number().nullable(),
      setBy: z.string(),
    }),
  ),
});
const keyList = z.object({
  nextCursor: z.string().nullable(),
  keys: z.array(
    z.object({
      keyId: z.number(),
      hashPrefix: z.string(),
      revokedAt: z.string().nullable(),
      stoppedBy: z.string().nullable(),
    }),
  ),
});
const ledgerBody = z.object({
  nextCursor: z.string().nullable(),
  wallets: z.array(
    z.object({
      address: z.string(),
      balanceWei: z.string().nullable(),
      inFlight: z.number(),
      openFrom: z.string(),
    }),
  ),
  gas: z.array(
    z.object({
      account: z.string(),
      spentWei: z.string(),
      budgetWei: z.string().nullable(),
      clientBudgetWei: z.string().nullable(),
    }),
  ),
  waiting: z.array(z.object({ entryId: z.string() })),
  transactions: z.array(
    z.object({
      nonce: z.string(),
      kind: z.string(),
      state: z.string().nullable(),
      entryId: z.string().nullable(),
      forms: z.array(z.object({ hash: z.string(), maxFeePerGasWei: z.string() })),
    }),
  ),
});

/** The resume command of an answer, run as an operator would. */
const resume = async (command: string) => {
  const { code } = await run(...command.replace("npm run ledger -- ", "").split(" "));
  expect(code).toBe(0);
};

describe("without the admin token", () => {
  test.each([
    ["GET", "keys"],
    ["GET", "stops"],
    ["GET", "ledger"],
    ["GET", "keeper"],
    ["GET", "webhooks"],
    ["POST", "stops"],
  ])("%s /api/v1/admin/%s is refused", async (method, path) => {
    const body = method === "POST" ? { scope: "global", reason: "no" } : undefined;
    const credentials: Record<string, string>[] = [{}, { "x-admin-token": "wrong" }, buyer.headers];
    for (const headers of credentials) {
      expect(failure(await api.request(`/api/v1/admin/${path}`, { method, headers, body }))).toEqual([
        401,
        "unauthenticated",
      ]);
    }
    expect(await connection.sql`select * from service.stop`).toHaveLength(0);
  });
});

test("keys are listed with the start of their hash only, by wallet and page by page", async () => {
  const wallet = newWallet();
  const { keyId, apiKey } = await issueKey(api.request, wallet);
  const { keyId: revoked } = await issueKey(api.request, wallet);
  await api.request(`/api/v1/keys/${revoked}`, { method: "DELETE", headers: admin });
  await connection.sql`insert into service.stop (scope, subject, reason) values ('key', ${String(keyId)}, 'test')`;
  const answer = await read(`keys?wallet=${wallet}`);
  expect(answer.headers.get("cache-control")).toContain("no-store");
  expect(answer.text).not.toContain(apiKey);
  const { keys } = keyList.parse(answer.json);
  expect(keys).toMatchObject([
    { keyId: revoked, revokedAt: expect.any(String), stoppedBy: null },
    { keyId, revokedAt: null, stoppedBy: "key" },
  ]);
  await connection.sql`truncate service.stop`;
  const seen: number[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const page = keyList.parse((await read(`keys?limit=2${cursor && `&cursor=${cursor}`}`)).json);
    seen.push(...page.keys.map((key) => key.keyId));
    cursor = page.nextCursor;
  }
  const rows = await connection.sql<
    { id: number }[]
  >`select id::int as id from service.api_key order by id desc`;
  expect(seen).toEqual(rows.map(({ id }) => id));
});

test("a held node shows the transaction in flight with its forms, the wallets, gas and budgets", async () => {
  rpc.intercept((call, forward) =>
    call.method === "eth_sendRawTransaction"
      ? Promise.resolve({ error: { code: -32000, message: "the pool is full" } })
      : forward(),
  );
  const bought = await buyer.buy({}, { "idempotency-key": "held", prefer: "respond-async" });
  expect(bought.status, bought.text).toBe(202);
  const id = z.object({ purchaseId: z.string() }).parse(bought.json).purchaseId;
  const shown = await waitFor({
    what: "the node to refuse the purchase in flight",
    probe: async () => {
      const body = ledgerBody.parse((await read("ledger")).json);
      const found = body.transactions.find(({ entryId, state }) => entryId === id && state === "signed");
      return found && { body, found };
    },
  });
  const { sql } = connection;
  const [form] = await sql<{ hash: string; fee: string; bytes: string }[]>`
    select a.hash, a.max_fee::text as fee, a.signed as bytes from service.attempt a
    join service.transaction t on t.id = a.transaction_id where t.intent = ${id} order by a.id limit 1`;
  expect(shown.found).toMatchObject({ kind: "purchase", nonce: "0", state: "signed" });
  expect(shown.found.forms[0]).toEqual({
    ...shown.found.forms[0],
    hash: form?.hash,
    maxFeePerGasWei: form?.fee,
  });
  const { address } = api.chain.relayer;
  const balance = String(await api.chain.client.getBalance({ address }));
  expect(shown.body.wallets).toMatchObject([{ address, balanceWei: balance, inFlight: 1, openFrom: "0" }]);
  expect(shown.body.gas).toMatchObject([
    { account: "service", budgetWei: "7000000000000000000", clientBudgetWei: "3000000000000000000" },
  ]);
  expect(BigInt(shown.body.gas[0]?.spentWei ?? 0)).toBeGreaterThan(0n);
  const answer = await read(`ledger?wallet=${address}&limit=1`);
  expect(answer.text).not.toContain(form?.bytes);
  expect(ledgerBody.parse(answer.json).transactions).toHaveLength(1);
  expect(ledgerBody.parse((await read(`ledger?wallet=${newWallet()}`)).json).transactions).toEqual([]);
  // The command line reads the same.
  const { said } = await run();
  expect(said).toContain(id);
  expect(said).toMatch(/service +0\.\d+ +7\.000000 +3\.000000/);
});

test("a stop while a purchase is signed replaces it; buying is refused until the command line lifts it", async () => {
  const [row] = await connection.sql<{ id: string; key: number }[]>`
    select id, key_id::int as key from service.purchase_progress where idempotency_key = 'held'`;
  const target = { scope: "key", keyId: row?.key, reason: " leaked " };
  const first = await stop(target);
  expect(first.status, first.text).toBe(201);
  expect(first.headers.get("cache-control")).toContain("no-store");
  const set = stopSet.parse(first.json);
  expect(set).toMatchObject({
    alreadyStopped: false,
    stop: { reason: "leaked", setBy: "api", resume: `npm run ledger -- resume key ${row?.key}` },
  });
  const second = await stop({ ...target, reason: "another reason" });
  expect(second.status).toBe(200);
  expect(stopSet.parse(second.json)).toMatchObject({ alreadyStopped: true, stop: set.stop });
  expect(failure(await buyer.buy({}, { "idempotency-key": "stopped" }))).toEqual([503, "purchases_stopped"]);
  rpc.intercept();
  await waitFor({
    what: "the empty transfer in place of the purchase",
    timeoutMs: 90_000,
    probe: async () => {
      const [now] =
        await connection.sql`select state from service.purchase_progress where id = ${row?.id ?? ""}`;
      return now?.state === "replaced" || undefined;
    },
  });
  await resume(set.stop.resume);
  const bought = await buyer.buy({}, { "idempotency-key": "resumed" });
  expect(bought.status, bought.text).toBe(201);
});

test("stops of all scopes are listed page by page, with who set them; unknown keys are 404", async () => {
  const wallet = newWallet();
  expect((await run("stop", "global", "--reason", "an incident")).code).toBe(0);
  expect((await stop({ scope: "keeper", reason: "a wrong feed" })).status).toBe(201);
  expect(stopSet.parse((await stop({ scope: "wallet", wallet, reason: "later" })).json).known).toBe(false);
  expect(failure(await stop({ scope: "key", keyId: 999_999, reason: "typo" }))).toEqual([
    404,
    "key_not_found",
  ]);
  const first = stopList.parse((await read("stops?limit=2")).json);
  expect(first.stops).toMatchObject([
    { scope: "global", setBy: "command line" },
    { scope: "keeper", setBy: "api" },
  ]);
  const rest = stopList.parse((await read(`stops?limit=2&cursor=${first.nextCursor}`)).json);
  expect(rest).toMatchObject({ nextCursor: null, stops: [{ scope: "wallet", wallet, setBy: "api" }] });
  // A stop that the command line has set again is the command line's.
  expect((await run("stop", "keeper", "--reason", "still wrong")).code).toBe(0);
  expect(stopList.parse((await read("stops")).json).stops[1]).toMatchObject({ setBy: "command line" });
  for (const target of [["global"], ["keeper"], ["wallet", wallet]])
    expect((await run("resume", ...target)).code).toBe(0);
});

test.each([
  [{ scope: "global" }, "reason"],
  [{ scope: "everything", reason: "x" }, "scope"],
  [{ scope: "global", reason: "  " }, "reason"],
  [{ scope: "global", reason: "two\nlines" }, "reason"],
  [{ scope: "global", reason: "x".repeat(201) }, "reason"],
  [{ scope: "wallet", reason: "x" }, "wallet"],
  [{ scope: "key", keyId: 1.5, reason: "x" }, "keyId"],
  [{ scope: "key", reason: "x" }, "keyId"],
  [{ scope: "global", keyId: 1, reason: "x" }, "keyId"],
  [{ scope: "key", keyId: 1, wallet: newWallet(), reason: "x" }, "wallet"],
])("the stop %j is refused and names %s", async (body, field) => {
  const answer = await stop(body);
  expect(failure(answer)).toEqual([400, "validation_error"]);
  expect(answer.text).toContain(`"path":"${field}"`);
  expect(await connection.sql`select * from service.stop`).toHaveLength(0);
});

test("a failing and a disabled webhook are listed with the host alone", async () => {
  const { sql } = connection;
  const create = async (state: string, failures: number) => {
    const [hook] = await sql<{ id: number }[]>`
      insert into service.webhook (chain_id, wallet, url, events, secret, from_block, passed_block, passed_event, state, position, undeliverable_at)
      values (${api.chain.deployment.chainId}, ${newWallet().toLowerCase()}, 'http://hooks.example:8443/a?token=hidden', array['*'], 'sealed', 0, 0, 0,
        ${state}, ${state === "active" ? null : 0}, ${state === "active" ? null : sql`now()`}) returning id::int as id`;
    await sql`
      with e as (insert into service.event (chain_id, id, key, type, parties, body)
        values (${api.chain.deployment.chainId}, ${`evt_${hook?.id}`}, ${`k${hook?.id}`}, 'bond_minted', '{}', '{}') returning seq)
      insert into service.delivery (webhook_id, event_seq, state, failures, next_attempt_at, attempts)
      select ${hook?.id ?? 0}, seq, ${state === "active" ? "pending" : "undeliverable"}, ${failures}, now() + interval '1 hour',
        ${JSON.stringify([{ at: "2026-01-01T00:00:00.000Z", durationMs: 1, outcome: "refused", status: 500, error: "e", response: "hidden" }])}::text::jsonb from e`;
    return hook?.id;
  };
  const [failing, disabled] = [await create("active", 3), await create("undeliverable", 7)];
  const answer = await read("webhooks");
  expect(answer.text).not.toContain("hidden");
  expect(answer.text).not.toContain("sealed");
  const lastAttempt = { at: "2026-01-01T00:00:00.000Z", outcome: "refused", status: 500 };
  const shared = { host: "hooks.example:8443", pending: 1, oldestPendingAt: expect.any(String), lastAttempt };
  expect(answer.json).toMatchObject({
    nextCursor: null,
    webhooks: [
      { ...shared, id: failing, disabled: false, failuresInARow: 3, nextAttemptAt: expect.any(String) },
      { ...shared, id: disabled, disabled: true, failuresInARow: 7, nextAttemptAt: null },
    ],
  });
  const first = await read("webhooks?limit=1");
  expect(first.json).toMatchObject({ count: 1, nextCursor: String(failing) });
  expect((await read(`webhooks?limit=1&cursor=${failing}`)).json).toMatchObject({
    count: 1,
    nextCursor: null,
  });
});

test("the keeper's failed work is listed page by page, the most failures first, with the audit's counts", async () => {
  const { sql } = connection;
  const { chainId } = api.chain.deployment;
  const product = `0x${"ab".repeat(32)}`;
  for (const [policy, failures] of [
    [1, 2],
    [2, 6],
  ] as const) {
    await sql`insert into service.keeper_task (chain_id, purpose, product_id, policy_id, failures, failure, retry_at)
      values (${chainId}, 'trigger', ${product}, ${policy}, ${failures}, 'refused', now())`;
  }
  await sql`insert into service.keeper_audit (chain_id, audited_to, missed) values (${chainId}, 9, 1)`;
  await sql`insert into service.keeper_watch (chain_id, since, until, seen_at)
    values (${chainId}, 100, 200, now() - interval '1 hour'), (${chainId}, 500, 600, now())`;
  const first = await read("keeper?limit=1");
  expect(first.json).toMatchObject({
    wallet: null,
    audit: { auditedTo: "9", missed: "1" },
    absences: [{ from: "1970-01-01T00:03:20.000Z", to: "1970-01-01T00:08:20.000Z" }],
    failedWork: [{ policyId: "2", failures: 6, setAside: true }],
  });
  const { nextCursor } = z.object({ nextCursor: z.string() }).parse(first.json);
  expect((await read(`keeper?limit=1&cursor=${nextCursor}`)).json).toMatchObject({
    nextCursor: null,
    failedWork: [{ policyId: "1", failures: 2, setAside: false }],
  });
});
