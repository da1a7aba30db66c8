/**
 * Stops and budgets. What this proves, checked on the chain: a stop applies before the next broadcast, also to stored bytes; a
 * wallet's gas budget stops signing before gas is spent.
 */
import { isHex, keccak256, parseEther, parseTransaction } from "viem";
import { afterEach, beforeAll, expect, test } from "vitest";
import type { TestChain } from "../support/chain.ts";
import {
  newBuyer,
  policiesOnChain,
  purchaseRequest,
  signedForms,
  type TestLedger,
} from "../support/ledger.ts";
import type { RpcProxy } from "../support/rpc-proxy.ts";
import type { Stack } from "../support/stack.ts";
import { expectOneNonceEach } from "./support/assertions.ts";
import { backdateBroadcasts, waitForRounds } from "./support/waits.ts";
import { startWriterSetup } from "./support/writer-setup.ts";

/** What a wallet's purchases may cost in a day, in ether: enough for one, too little for thirty. */
const BUDGET = "0.003";

let chain: TestChain;
let proxy: RpcProxy;
let stack: Stack;
let ledger: TestLedger;

beforeAll(async () => {
  const env = { CONFIRMATIONS: "2", GAS_BUDGET_PER_WALLET_ETH: BUDGET };
  ({ chain, proxy, stack, ledger } = await startWriterSetup(env));
});
afterEach(async () => {
  proxy.intercept();
  await ledger.connection.sql`truncate service.stop`;
});

/** The writer broadcasts purchases, which have calldata, and empty transfers. */
const isEmptyTransfer = (bytes: unknown) => isHex(bytes) && parseTransaction(bytes).data === undefined;

const stop = (scope: string, subject: string) =>
  ledger.connection
    .sql`insert into service.stop (scope, subject, reason) values (${scope}, ${subject}, 'test')`;

test("a stop of an API key applies to stored bytes: they are never sent, and other buyers are not delayed", async () => {
  const [buyer, other] = [await newBuyer(chain), await newBuyer(chain)];
  proxy.intercept(async (call, forward) => (call.method === "eth_sendRawTransaction" ? "lost" : forward()));
  const id = await ledger.buy(purchaseRequest(buyer.address), "stopped");
  await ledger.inState(id, "signed");
  await stack.kill9("writer");
  // As if it had died before the broadcast.
  await ledger.connection.sql`update service.attempt set last_broadcast_at = null
    from service.transaction t where t.id = transaction_id and t.intent = ${id}`;
  const [key] = await ledger.connection.sql<{ id: string }[]>`
    select key_id as id from service.purchase_progress where id = ${id}`;
  await stop("key", String(key?.id));
  // The next writer need not wait for the dead one's lease to expire.
  await ledger.connection.sql`update service.relayer_wallet set lease_until = now()`;
  const sentPurchases = new Set<unknown>();
  proxy.intercept(async (call, forward) => {
    const [bytes] = call.params;
    if (call.method === "eth_sendRawTransaction" && isHex(bytes) && !isEmptyTransfer(bytes))
      sentPurchases.add(keccak256(bytes));
    return forward();
  });
  await stack.start("writer");
  const next = await ledger.buy(purchaseRequest(other.address), "not-stopped");
  await ledger.inState(next, "confirmed");
  await ledger.inState(id, "replaced");
  expect(await policiesOnChain(chain, buyer.address)).toEqual([]);
  expect(sentPurchases.size).toBeGreaterThan(0); // the other buyer's
  const stopped = await signedForms(ledger.connection, id);
  expect(stopped.filter((hash) => sentPurchases.has(hash))).toEqual([]);
});

test("a purchase of a key that was revoked before it is signed is refused, and so is one that no key has made", async () => {
  const [buyer, victim] = [await newBuyer(chain), await newBuyer(chain)];
  const { sql } = ledger.connection;
  await stack.kill9("writer");
  const id = await ledger.buy(purchaseRequest(buyer.address), "revoked");
  await sql`update service.api_key set revoked_at = now() where wallet = ${buyer.address.toLowerCase()}`;
  // Rows that the api's role may not insert.
  const forged = await sql<{ id: string }[]>`
    insert into service.purchase (chain_id, wallet, key_id, fingerprint, product_id, coverage_amount, asset, buyer, quoted_premium)
    select chain_id, w.wallet, w.key_id, w.wallet, product_id, coverage_amount, asset, ${victim.address.toLowerCase()}, quoted_premium
    from service.purchase p, lateral (values (${victim.address.toLowerCase()}, null), (p.wallet, p.key_id)) w (wallet, key_id)
    where p.id = ${id} returning id`;
  await sql`update service.relayer_wallet set lease_until = now()`;
  await stack.start("writer");
  for (const one of [id, ...forged.map((row) => row.id)]) {
    expect(await ledger.settled(one)).toMatchObject({
      ...{ state: "failed", code: "unauthenticated", txHash: null },
      message: expect.stringMatching(/revoked before the purchase was signed. Nothing was spent/),
    });
  }
  for (const { address } of [buyer, victim]) expect(await policiesOnChain(chain, address)).toEqual([]);
});

test("a global stop applies before the next broadcast, and the stored bytes are sent once it is lifted", async () => {
  const buyer = await newBuyer(chain);
  const { sql } = ledger.connection;
  let sent = 0;
  proxy.intercept(async (call, forward) => {
    if (call.method !== "eth_sendRawTransaction") return forward();
    sent += 1;
    return "lost";
  });
  const id = await ledger.buy(purchaseRequest(buyer.address), "halted");
  await ledger.inState(id, "signed");
  await stop("global", "");
  await backdateBroadcasts(sql);
  // By then every broadcast that had checked the stops before this one is over.
  await waitForRounds(proxy, 2);
  await backdateBroadcasts(sql);
  const before = sent;
  await waitForRounds(proxy, 4);
  expect(sent).toBe(before);
  proxy.intercept();
  await sql`truncate service.stop`;
  expect((await ledger.settled(id)).state).toMatch(/mined|confirmed/);
  const policies = await policiesOnChain(chain, buyer.address);
  expect(policies).toHaveLength(1);
  await expectOneNonceEach(ledger.connection, [id], policies);
});

test("concurrent purchases never exceed a wallet's daily gas budget, and other wallets still buy", async () => {
  const [buyer, other] = [await newBuyer(chain), await newBuyer(chain)];
  const ids = await Promise.all(
    Array.from({ length: 30 }, (_, n) => ledger.buy(purchaseRequest(buyer.address), `budget-${n}`)),
  );
  const settled = await Promise.all(ids.map((id) => ledger.settled(id)));
  const bought = settled.filter(({ state }) => state !== "failed");
  expect(bought.length).toBeGreaterThan(0);
  expect(bought.length).toBeLessThan(30);
  for (const purchase of settled) {
    if (purchase.state === "failed") expect(purchase.code).toBe("gas_budget_exceeded");
  }
  const [spent] = await ledger.connection.sql<{ wei: string }[]>`
    select sum(gas_cost) as wei from service.transaction where intent = any(${ids}::uuid[])`;
  expect(BigInt(spent?.wei ?? 0)).toBeLessThanOrEqual(parseEther(BUDGET));
  expect(await policiesOnChain(chain, buyer.address)).toHaveLength(bought.length);
  const id = await ledger.buy(purchaseRequest(other.address), "another-wallet");
  expect((await ledger.settled(id)).state).toMatch(/mined|confirmed/);
});
