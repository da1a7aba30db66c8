/** What the operator looks at: a stack with a purchase of a key, and rows of everything that can be wrong. */
import type { Locator } from "playwright-core";
import type { Sql } from "postgres";
import type { Address } from "viem";
import { expect } from "vitest";
import { z } from "zod";
import { connect } from "../../../lib/db/connect.ts";
import { DEV_ADMIN_TOKEN } from "../../../lib/off-local.ts";
import { waitFor } from "../../../scripts/local/wait.ts";
import { admin, issueKey, newWallet } from "../../api/support/api.ts";
import { startChain } from "../../support/chain.ts";
import { type OpenPage, openPage } from "../../support/chromium.ts";
import { atEnd } from "../../support/cleanup.ts";
import { newBuyer } from "../../support/ledger.ts";
import { checkedRequests } from "../../support/openapi.ts";
import { startRpcProxy } from "../../support/rpc-proxy.ts";
import { startStack } from "../../support/stack.ts";
import { settled } from "./dashboard.ts";

/** A chain on which no writer sends, so that its rows stay as they are. */
const CHAIN = 1;
/** Transactions in flight there: more than a page of 50. */
export const FLIGHTS = 60;
/** The nonce among them that the ledger lacks. */
const MISSING = 5;

/** The wallets of these rows. */
export type Rows = { readonly keeper: Address; readonly client: Address };

async function insertFlights(sql: Sql, wallet: string): Promise<void> {
  await sql`
    insert into service.relayer_wallet
      (chain_id, address, role, next_nonce, lease_until, fault, gas_budget, client_gas_budget)
    values (${CHAIN}, ${wallet}, 'keeper', ${FLIGHTS + 1}, now() - interval '5 minutes', 'it has no ether', 7, 3)`;
  await sql`
    insert into service.transaction (chain_id, wallet, nonce, kind, "to", data, gas_limit, opened_at)
    select ${CHAIN}, ${wallet}, n, 'filler', ${wallet}, '0x', 21000,
      now() - case when n < 30 then interval '1 hour' else interval '0' end - make_interval(secs => 60 - n)
    from generate_series(0, ${FLIGHTS}::int) n where n <> ${MISSING}`;
  await sql`
    insert into service.attempt (hash, transaction_id, signed, max_fee, priority_fee, fencing_token)
    select '0x' || md5(t.id::text) || md5(t.nonce::text), t.id, '0x02', 2000000000 + t.nonce, 1000000000 + t.nonce, 1
    from service.transaction t where t.chain_id = ${CHAIN}`;
}

async function insertTroubles(sql: Sql, { keeper, client }: Rows): Promise<void> {
  for (const id of [1, 2, 3])
    await sql`insert into service.buyer_revert values (${-id}, ${client.toLowerCase()})`;
  await sql`
    insert into service.keeper_task (chain_id, purpose, product_id, policy_id, failures, failure)
    values (${CHAIN}, 'queue', '', 5, 2, 'the vault is empty')`;
  await sql`
    insert into service.keeper_watch
    values (${CHAIN}, 100, 200, now() - interval '1 hour'), (${CHAIN}, 300, 400, now() + interval '1 day')`;
  await sql`
    insert into service.service_transaction
      (chain_id, sender, purpose, "to", data, value, failure_code, failure_message, refused_at)
    values (${CHAIN}, ${keeper.toLowerCase()}, 'keeper_trigger', ${keeper.toLowerCase()}, '0x', 0, 'onchain_revert', 'too late', now())`;
  await sql`
    insert into service.webhook
      (chain_id, wallet, url, events, secret, from_block, processed_block, processed_event, state, position, undeliverable_at)
    select 8453, ${client.toLowerCase()}, 'https://hooks.example:8443/secret-path?token=t', array['*'], 'sealed', 0, 0, 0,
      'undeliverable', 0, now() from generate_series(1, 60)`;
}

/** Starts a chain, all processes of the service, and a proxy between chain and API. */
export async function startOperator() {
  const chain = await startChain({ blockTime: 1, mixedMining: true });
  const rpc = await startRpcProxy(chain.url);
  const stack = await startStack({ chain, rpcUrl: rpc.url });
  const { sql, close } = connect(stack.databaseUrl, { name: "test" });
  atEnd(close);
  return { chain, rpc, stack, sql, request: await checkedRequests(stack.apiUrl) };
}
export type Operator = Awaited<ReturnType<typeof startOperator>>;

const spent = z.object({ spendingByKey: z.array(z.object({ keyId: z.string() })) });

/** Buys with a key, and inserts a row of everything that can be wrong, once the admin API answers. */
export async function fillOperator({ chain, request, sql }: Operator) {
  const { address } = await newBuyer(chain);
  const { keyId, headers } = await issueKey(request, address);
  for (let n = 0; n < 30; n += 1) await issueKey(request);
  const body = { productName: "FLASHBTC1H-001", coverageAmount: "100000000", buyer: address };
  await waitFor({
    what: "the purchase in the day's spending",
    probe: async () => {
      // The same call again: a busy machine may answer it with a 503.
      await request("/api/v1/policies", { headers: { ...headers, "idempotency-key": "once" }, body });
      const { json } = await request("/api/v1/admin/ledger", { headers: admin });
      return spent.parse(json).spendingByKey.some((key) => key.keyId === String(keyId)) || undefined;
    },
  });
  const rows = { keeper: newWallet(), client: newWallet() };
  await insertFlights(sql, rows.keeper.toLowerCase());
  await insertTroubles(sql, rows);
  return { ...rows, buyer: address, keyId };
}

/** Opens the page, which asks for the token. */
export async function openGate(apiUrl: string, path = "/operator"): Promise<OpenPage> {
  const opened = await openPage(apiUrl);
  await opened.page.goto(`${apiUrl}${path}`);
  await opened.page.getByRole("textbox", { name: "Admin token" }).waitFor();
  return opened;
}

/** Gives a token to the page that asks for it, by keys. */
export async function giveToken({ page }: OpenPage, token = DEV_ADMIN_TOKEN): Promise<void> {
  await page.getByRole("textbox", { name: "Admin token" }).fill(token);
  await page.keyboard.press("Enter");
}

/** Waits for what follows a token. A busy machine may refuse it with a 503: the operator tries again. */
export async function afterToken({ page }: OpenPage, awaited: Locator): Promise<void> {
  await expect
    .poll(async () => {
      if ((await awaited.count()) > 0) return true;
      if ((await page.locator("#token-fault:not(:empty)").count()) > 0)
        await page.getByRole("button", { name: "Open" }).click();
      return false;
    })
    .toBe(true);
}

/** A table of each answer: with them, all of the page stands. */
const tables = ["Stops in force", "Gas and budgets", "Webhooks that are behind", "API keys"];

/** Opens the page with the token, and waits until all of it stands. */
export async function openDesk(apiUrl: string, path?: string): Promise<OpenPage> {
  const opened = await openGate(apiUrl, path);
  const { page } = opened;
  await giveToken(opened);
  await afterToken(opened, page.getByRole("heading", { name: "Keys" }));
  for (const name of tables) await page.getByRole("table", { name }).waitFor();
  await settled(opened);
  return opened;
}
