/**
 * A purchase has a nonce and no bytes, because its signer was away, and the base fee has risen meanwhile. What this proves: it is
 * signed at a higher cost only as far as the day's gas budget allows; an empty transfer that cancels it does not wait for the
 * budget.
 */
import type { LocalAccount } from "viem";
import { afterEach, beforeAll, expect, test } from "vitest";
import { anvilAccount } from "../../lib/chain/client.ts";
import { privateKeyOf } from "../../scripts/local/anvil.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { mineEverySecond, mineNothing, startChain, type TestChain } from "../support/chain.ts";
import {
  newBuyer,
  openLedger,
  policiesOnChain,
  purchaseRequest,
  type TestLedger,
} from "../support/ledger.ts";
import { type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { publicKeyOf, startSigner, type TestSigner } from "../support/signer.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { mineBlockAt, waitForRounds } from "./support/waits.ts";

const relayer = anvilAccount(1);
const publicKey = publicKeyOf(privateKeyOf(relayer));
const BUDGET = 1000n * 10n ** 18n;

let chain: TestChain;
let signer: TestSigner;
let proxy: RpcProxy;
let stack: Stack;
let ledger: TestLedger;

beforeAll(async () => {
  chain = await startChain({ blockTime: 1, mixedMining: true, relayers: [relayer] });
  signer = await startSigner([privateKeyOf(relayer)]);
  proxy = await startRpcProxy(chain.url);
  const writer = {
    ...{ SIGNER_URL: signer.url, RELAYER_PUBLIC_KEYS: publicKey, RELAYER_PRIVATE_KEYS: "" },
    ...{ MAX_FEE_GWEI: "40", PURCHASE_TTL: "1200", GAS_BUDGET_ETH: "1000", CONFIRMATIONS: "2" },
  };
  stack = await startStack({ chain, rpcUrl: proxy.url, services: ["writer"], env: { writer } });
  ledger = await openLedger(chain, { databaseUrl: stack.databaseUrl });
});
afterEach(async () => {
  signer.set({ kind: "signs" });
  await ledger.connection.sql`truncate service.stop`;
  await mineEverySecond(chain);
});

type Reserved = { nonce: string; reserved: string; forms: number };

async function readReserved(id: string): Promise<Reserved | undefined> {
  const [row] = await ledger.connection.sql<Reserved[]>`
    select t.nonce, t.gas_reserved as reserved,
      (select count(*)::int from service.attempt a where a.transaction_id = t.id) as forms
    from service.transaction t where t.intent = ${id}`;
  return row;
}

/** Buys at a base fee of 1 gwei from a signer that does not answer; nothing is mined from then on. */
async function buyUnsigned(): Promise<{ buyer: LocalAccount; id: string; before: Reserved }> {
  const buyer = await newBuyer(chain);
  await mineNothing(chain);
  await mineBlockAt(chain, ledger.connection.sql, 1);
  signer.set({ kind: "holds" });
  const id = await ledger.buy(purchaseRequest(buyer.address));
  const before = await waitFor({ what: "the purchase to get a nonce", probe: () => readReserved(id) });
  expect(before.forms).toBe(0);
  return { buyer, id, before };
}

/** Lets the base fee rise tenfold, and the signer sign. @returns what the writer logs from now on. */
async function riseAndSign(): Promise<() => string> {
  const logged = stack.output("writer").length;
  await mineBlockAt(chain, ledger.connection.sql, 10);
  signer.set({ kind: "signs" });
  return () => stack.output("writer").slice(logged);
}

/** Waits until the writer says that the purchase waits, or signs it, and for two rounds more: it has not signed it. */
async function expectToWait(id: string, before: Reserved, output: () => string): Promise<void> {
  await waitFor({
    what: "the writer to sign the call, or to say that it may not",
    probe: async () =>
      output().includes("a call without bytes waits") || (await readReserved(id))?.forms !== 0 || undefined,
  });
  await waitForRounds(proxy, 2);
  expect(await readReserved(id)).toEqual(before);
}

/** Leaves less of the day's budget than ten times the reservation. @returns what restores it. */
async function spendBudget({ reserved }: Reserved): Promise<() => Promise<unknown>> {
  const { sql } = ledger.connection;
  const [row] = await sql<{ wei: string }[]>`select wei from service.gas_day where wallet = ''`;
  const set = (wei: bigint) =>
    sql`update service.gas_day set wei = ${String(wei)}::numeric where wallet = ''`;
  await set(BUDGET - BigInt(reserved));
  return () => set(BigInt(row?.wei ?? 0));
}

test("beyond the day's gas budget it waits, and is bought once when the base fee has fallen", async () => {
  const { buyer, id, before } = await buyUnsigned();
  const restore = await spendBudget(before);
  await expectToWait(id, before, await riseAndSign());
  await mineBlockAt(chain, ledger.connection.sql, 1);
  await mineEverySecond(chain);
  expect((await ledger.settled(id)).state).toMatch(/mined|confirmed/);
  expect(await policiesOnChain(chain, buyer.address)).toHaveLength(1);
  await restore();
});

test("beyond the day's gas budget, one that the operator stops is cancelled at once", async () => {
  const { buyer, id, before } = await buyUnsigned();
  const restore = await spendBudget(before);
  await expectToWait(id, before, await riseAndSign());
  await ledger.connection.sql`
    insert into service.stop (scope, subject, reason) values ('wallet', ${buyer.address.toLowerCase()}, 'test')`;
  await mineEverySecond(chain);
  await ledger.inState(id, "replaced");
  expect(await policiesOnChain(chain, buyer.address)).toEqual([]);
  await restore();
});
