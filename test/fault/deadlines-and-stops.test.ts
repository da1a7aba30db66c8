/**
 * Deadlines, stops and budgets. What this proves, checked on the chain: an empty transfer replaces a purchase that is not
 * mined in time, and the one that is mined decides; a stop applies before the next broadcast, also to stored bytes; gas
 * budgets and an empty wallet stop signing before gas is spent.
 */
import { isHex, keccak256, parseEther, parseTransaction } from "viem";
import { afterEach, beforeAll, expect, test } from "vitest";
import { anvilAccount } from "../../lib/chain/client.ts";
import { privateKeyOf } from "../../scripts/local/anvil.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import {
  newBuyer,
  openLedger,
  policiesOnChain,
  purchaseRequest,
  signedForms,
  type TestLedger,
} from "../support/ledger.ts";
import { askRpc, type Interceptor, type RpcProxy } from "../support/rpc-proxy.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { expectOneNonceEach } from "./support/assertions.ts";
import {
  backdateBroadcasts,
  waitForBalanceCacheToExpire,
  waitForRounds,
  waitUntilPostponed,
} from "./support/waits.ts";
import { startWriterSetup } from "./support/writer-setup.ts";

/** Longer than a purchase takes on a slow machine: those that the tests do not delay must be bought. */
const TTL_SECONDS = 10;

let chain: TestChain;
let proxy: RpcProxy;
let stack: Stack;
let ledger: TestLedger;

beforeAll(async () => {
  const env = { CONFIRMATIONS: "2", PURCHASE_TTL: String(TTL_SECONDS) };
  ({ chain, proxy, stack, ledger } = await startWriterSetup(env));
});
afterEach(async () => {
  proxy.intercept();
  await ledger.connection.sql`truncate service.stop`;
});

/** The writer broadcasts purchases, which have calldata, and empty transfers. */
const isEmptyTransfer = (bytes: unknown) => isHex(bytes) && parseTransaction(bytes).data === undefined;

/** A node that loses every purchase and accepts everything else. */
const losePurchases: Interceptor = async (call, forward) =>
  call.method === "eth_sendRawTransaction" && !isEmptyTransfer(call.params[0]) ? "lost" : forward();

const stop = (scope: string, subject: string) =>
  ledger.connection
    .sql`insert into service.stop (scope, subject, reason) values (${scope}, ${subject}, 'test')`;

test("a purchase that is not mined in time is replaced: nothing is bought, and its key can buy again", async () => {
  const buyer = await newBuyer(chain);
  proxy.intercept(losePurchases);
  const id = await ledger.buy(purchaseRequest(buyer.address), "replaced");
  const replaced = await ledger.inState(id, "replaced");
  expect(replaced).toMatchObject({ code: "purchase_expired", txHash: expect.stringMatching(/^0x/) });
  if (!("txHash" in replaced) || replaced.txHash === null) throw new Error("no hash");
  const receipt = await chain.client.getTransactionReceipt({ hash: replaced.txHash });
  expect([receipt.status, receipt.to?.toLowerCase()]).toEqual(["success", receipt.from.toLowerCase()]);
  expect(await policiesOnChain(chain, buyer.address)).toEqual([]);
  proxy.intercept();
  // Nothing was bought and nothing can be any more: the key is free.
  const again = await ledger.buy(purchaseRequest(buyer.address), "replaced");
  expect(again).not.toBe(id);
  await ledger.inState(again, "confirmed");
  expect(await policiesOnChain(chain, buyer.address)).toHaveLength(1);
});

test("the node accepts the empty transfer but mines the purchase: it is bought", async () => {
  const buyer = await newBuyer(chain);
  const stored: unknown[] = [];
  proxy.intercept(async (call, forward) => {
    if (call.method !== "eth_sendRawTransaction") return forward();
    stored.push(call.params[0]);
    // The purchase is in another node's pool; this node claims to have the transfer and drops it.
    return isEmptyTransfer(call.params[0])
      ? { result: `0x${"0".repeat(64)}` }
      : { error: { code: -32000, message: "later" } };
  });
  const id = await ledger.buy(purchaseRequest(buyer.address), "bought-late");
  await waitFor({
    what: "the empty transfer to be sent",
    probe: () => stored.some(isEmptyTransfer) || undefined,
  });
  expect(await ledger.read(id)).toMatchObject({ state: expect.stringMatching(/signed|broadcast/) });
  await askRpc(chain.url, "eth_sendRawTransaction", [stored.find((bytes) => !isEmptyTransfer(bytes))]);
  await ledger.inState(id, "confirmed");
  expect(await policiesOnChain(chain, buyer.address)).toHaveLength(1);
});

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
  // Move its deadline away: it has to be sent again, not replaced.
  await sql`update service.transaction set opened_at = now() + interval '1 hour' where intent = ${id}`;
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

test("a relayer without ether signs nothing, and buys once it is refilled", async () => {
  const buyer = await newBuyer(chain);
  await chain.client.setBalance({ address: chain.relayer.address, value: 1n });
  await waitForBalanceCacheToExpire(ledger.connection.sql);
  const nonce = await chain.client.getTransactionCount({ address: chain.relayer.address });
  const id = await ledger.buy(purchaseRequest(buyer.address), "drained");
  await waitUntilPostponed(stack, id, 3);
  expect(await ledger.read(id)).toMatchObject({ state: "accepted" });
  expect(await chain.client.getTransactionCount({ address: chain.relayer.address })).toBe(nonce);
  await chain.client.setBalance({ address: chain.relayer.address, value: parseEther("100") });
  await ledger.inState(id, "confirmed");
  expect(await policiesOnChain(chain, buyer.address)).toHaveLength(1);
});

test("concurrent purchases never exceed a wallet's daily gas budget, and other wallets still buy", async () => {
  const budgetChain = await startChain({ blockTime: 1, mixedMining: true, relayers: [anvilAccount(1)] });
  const budget = parseEther("0.005");
  const budgeted = await startStack({
    chain: budgetChain,
    services: ["writer"],
    relayerKeys: [privateKeyOf(anvilAccount(1))],
    env: { writer: { GAS_BUDGET_PER_WALLET_ETH: "0.005" } },
  });
  const budgetLedger = await openLedger(budgetChain, { databaseUrl: budgeted.databaseUrl });
  const [buyer, other] = [await newBuyer(budgetChain), await newBuyer(budgetChain)];
  const ids = await Promise.all(
    Array.from({ length: 30 }, (_, n) => budgetLedger.buy(purchaseRequest(buyer.address), `budget-${n}`)),
  );
  const settled = await Promise.all(ids.map((id) => budgetLedger.settled(id)));
  const bought = settled.filter(({ state }) => state !== "failed");
  expect(bought.length).toBeGreaterThan(0);
  expect(bought.length).toBeLessThan(30);
  for (const purchase of settled) {
    if (purchase.state === "failed") expect(purchase.code).toBe("gas_budget_exceeded");
  }
  const [spent] = await budgetLedger.connection.sql<{ wei: string }[]>`
    select sum(gas_cost) as wei from service.transaction`;
  expect(BigInt(spent?.wei ?? 0)).toBeLessThanOrEqual(budget);
  expect(await policiesOnChain(budgetChain, buyer.address)).toHaveLength(bought.length);
  const id = await budgetLedger.buy(purchaseRequest(other.address), "another-wallet");
  expect((await budgetLedger.settled(id)).state).toMatch(/mined|confirmed/);
  await budgeted.stop();
});
