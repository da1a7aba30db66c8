/**
 * The base fee jumps, or the node suggests a high tip. What this proves: every transaction below the base fee is raised at
 * once and bought once, as far as the gas budget and the relayer's balance reach; the tip has a cap of its own.
 */
import { isHex, type LocalAccount, parseGwei, parseTransaction, toHex } from "viem";
import { afterEach, beforeAll, expect, test } from "vitest";
import { waitFor } from "../../scripts/local/wait.ts";
import { mineEverySecond, mineNothing, type TestChain } from "../support/chain.ts";
import { newBuyer, policiesOnChain, purchaseRequest, type TestLedger } from "../support/ledger.ts";
import type { RpcProxy } from "../support/rpc-proxy.ts";
import type { Stack } from "../support/stack.ts";
import { mineAndWaitUntilSettled, mineBlockAt, waitForRounds } from "./support/waits.ts";
import { startWriterSetup } from "./support/writer-setup.ts";

let chain: TestChain;
let proxy: RpcProxy;
let stack: Stack;
let ledger: TestLedger;

beforeAll(async () => {
  const env = { MAX_FEE_GWEI: "40", PURCHASE_TTL: "1200", GAS_BUDGET_ETH: "1000" };
  ({ chain, proxy, stack, ledger } = await startWriterSetup(env));
});
afterEach(async () => {
  proxy.intercept();
  await mineEverySecond(chain);
});

/** Buys while nothing is mined, and waits until the node has everything. */
async function holdInPool(buyer: LocalAccount, count: number): Promise<string[]> {
  const ids = await Promise.all(
    Array.from({ length: count }, (_, n) =>
      ledger.buy(purchaseRequest(buyer.address), `${buyer.address}-${n}`),
    ),
  );
  for (const id of ids) await ledger.atNode(id);
  return ids;
}

type Form = { maxFee: bigint; reserved: bigint };

/** The newest signed form of each purchase, in the order of their nonces; in wei per gas, and in wei. */
async function newestForms(ids: readonly string[]): Promise<Form[]> {
  const rows = await ledger.connection.sql<Record<keyof Form, string>[]>`
    select distinct on (nonce) a.max_fee as "maxFee", gas_reserved as reserved
    from service.attempt a join service.transaction t on t.id = a.transaction_id
    where t.intent = any(${[...ids]}::uuid[]) order by nonce, a.id desc`;
  return rows.map(({ maxFee, reserved }) => ({ maxFee: BigInt(maxFee), reserved: BigInt(reserved) }));
}

/** Waits until the newest forms of exactly this many purchases offer at least `gwei`. */
const untilRaised = (ids: readonly string[], count: number, gwei: number) =>
  waitFor({
    what: `${count} of ${ids.length} purchases to offer ${gwei} gwei`,
    probe: async () => {
      const forms = await newestForms(ids);
      return forms.filter(({ maxFee }) => maxFee >= parseGwei(String(gwei))).length === count
        ? forms
        : undefined;
    },
  });

async function expectAllBought(ids: readonly string[], buyer: LocalAccount): Promise<void> {
  await mineEverySecond(chain);
  for (const id of ids) expect((await ledger.settled(id)).state).toMatch(/mined|confirmed/);
  expect(await policiesOnChain(chain, buyer.address)).toHaveLength(ids.length);
}

/** When the first form with at least this fee was stored, for each purchase in the order of their nonces: a round has one time. */
async function raisedAt(ids: readonly string[], gwei: number): Promise<string[]> {
  const rows = await ledger.connection.sql<{ at: string }[]>`
    select min(a.created_at)::text as at
    from service.attempt a join service.transaction t on t.id = a.transaction_id
    where t.intent = any(${[...ids]}::uuid[]) and a.max_fee >= ${String(parseGwei(String(gwei)))}::numeric
    group by t.nonce order by t.nonce`;
  return rows.map(({ at }) => at);
}

test("the base fee rises tenfold with forty purchases in flight: all are raised in one round, and bought once", async () => {
  const buyer = await newBuyer(chain);
  await mineNothing(chain);
  await mineBlockAt(chain, ledger.connection.sql, 1);
  const ids = await holdInPool(buyer, 40);
  const sent = new Set<string>();
  proxy.intercept(async (call, forward) => {
    const [bytes] = call.params;
    if (call.method === "eth_sendRawTransaction" && isHex(bytes)) {
      const { maxFeePerGas = 0n } = parseTransaction(bytes);
      if (maxFeePerGas >= parseGwei("10")) sent.add(bytes);
    }
    return forward();
  });
  await mineBlockAt(chain, ledger.connection.sql, 10);
  await untilRaised(ids, 40, 10);
  await waitFor({ what: "forty broadcasts", probe: () => sent.size >= 40 || undefined });
  // The lowest nonce is also raised because it delays the others: perhaps just before, in a round of its own.
  const [, ...others] = await raisedAt(ids, 10);
  expect(others).toHaveLength(39);
  expect(new Set(others).size).toBe(1);
  await expectAllBought(ids, buyer);
});

test("a raise that the relayer's balance does not cover waits, and those before it do not", async () => {
  const buyer = await newBuyer(chain);
  await mineNothing(chain);
  await mineBlockAt(chain, ledger.connection.sql, 1);
  const ids = await holdInPool(buyer, 5);
  const [first] = await newestForms(ids);
  if (!first) throw new Error("nothing was signed");
  // The first two may rise from 3 to 21 gwei, which is sixfold more.
  const relayer = chain.relayer.address;
  await chain.client.setBalance({
    address: relayer,
    value: first.reserved * (5n + 2n * 6n) + first.reserved,
  });
  await mineBlockAt(chain, ledger.connection.sql, 10);
  await untilRaised(ids, 2, 10);
  await waitForRounds(proxy, 2);
  const forms = await newestForms(ids);
  expect(forms.map(({ maxFee }) => maxFee >= parseGwei("10"))).toEqual([true, true, false, false, false]);
  await chain.client.setBalance({ address: relayer, value: 10n ** 20n });
  await untilRaised(ids, 5, 10);
  await expectAllBought(ids, buyer);
});

test("a raise beyond the day's gas budget is not signed: the purchases are bought once the base fee has fallen", async () => {
  const buyer = await newBuyer(chain);
  await mineNothing(chain);
  await mineBlockAt(chain, ledger.connection.sql, 1);
  const ids = await holdInPool(buyer, 3);
  const [first] = await newestForms(ids);
  if (!first) throw new Error("nothing was signed");
  const { sql } = ledger.connection;
  // As if all but five sixths of one raise were spent already.
  const budget = 1000n * 10n ** 18n;
  const [before] = await sql<{ wei: string }[]>`select wei from service.gas_day where wallet = ''`;
  await sql`update service.gas_day set wei = ${String(budget - 5n * first.reserved)}::numeric where wallet = ''`;
  const logged = stack.output("writer").length;
  await mineBlockAt(chain, ledger.connection.sql, 10);
  const isRaised = async () => (await newestForms(ids)).some(({ maxFee }) => maxFee >= parseGwei("10"));
  await waitFor({
    what: "the writer to raise a fee, or to say that it may not",
    probe: async () =>
      stack.output("writer").slice(logged).includes("does not allow a higher fee") ||
      (await isRaised()) ||
      undefined,
  });
  await waitForRounds(proxy, 2);
  expect(await isRaised()).toBe(false);
  await mineBlockAt(chain, sql, 1);
  await expectAllBought(ids, buyer);
  await sql`update service.gas_day set wei = ${before?.wei ?? "0"}::numeric where wallet = ''`;
});

test("the node suggests a tip of 50 gwei: the purchase pays no more than the tip's own cap", async () => {
  const buyer = await newBuyer(chain);
  proxy.intercept(async (call, forward) =>
    call.method === "eth_maxPriorityFeePerGas" ? { result: toHex(parseGwei("50")) } : forward(),
  );
  // The suggestion is read again with the next block.
  await mineAndWaitUntilSettled(chain, ledger.connection.sql);
  const bought = await ledger.settled(await ledger.buy(purchaseRequest(buyer.address)));
  if (!("receipt" in bought)) throw new Error(`it is ${bought.state}`);
  const { maxPriorityFeePerGas } = await chain.client.getTransaction({ hash: bought.receipt.txHash });
  expect(maxPriorityFeePerGas).toBe(parseGwei("2"));
});
