/**
 * A rollup charges for a transaction's data on the L1 beside its gas. What this proves: the writer reserves that fee, as
 * the chain's gas oracle states it, and signs nothing that balance or budget does not cover with it.
 */
import { parseEther, parseTransaction, serializeTransaction } from "viem";
import { beforeAll, expect, test } from "vitest";
import { startChain, type TestChain } from "../support/chain.ts";
import { deployGasOracle } from "../support/gas-oracle.ts";
import {
  newBuyer,
  openLedger,
  policiesOnChain,
  purchaseRequest,
  type TestLedger,
} from "../support/ledger.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { waitForBalanceCacheToExpire, waitUntilPostponed } from "./support/waits.ts";

/** In wei; a purchase then costs about a hundredth of an ether on the L1, ten times as much as its gas. */
const WEI_PER_BYTE = 30_000_000_000_000n;
let chain: TestChain;
let stack: Stack;
let ledger: TestLedger;

beforeAll(async () => {
  chain = await startChain({ blockTime: 1, mixedMining: true });
  await deployGasOracle(chain, WEI_PER_BYTE);
  const env = { writer: { CONFIRMATIONS: "2", GAS_BUDGET_PER_WALLET_ETH: "1" } };
  stack = await startStack({ chain, services: ["writer"], env });
  ledger = await openLedger(chain, { databaseUrl: stack.databaseUrl });
});

/** What a purchase may cost on the L2, and what the ledger reserves for it, in wei. */
async function reservationOf(id: string) {
  const [row] = await ledger.connection.sql<{ gas: string; reserved: string; signed: `0x${string}` }[]>`
    select gas_limit * max_fee as gas, gas_reserved as reserved, signed
    from service.transaction t join service.attempt a on a.transaction_id = t.id where t.intent = ${id} limit 1`;
  if (!row) throw new Error("nothing was signed");
  return { ...row, gas: BigInt(row.gas), reserved: BigInt(row.reserved) };
}

let gas: bigint;
let reserved: bigint;

test("the fee that the gas oracle states for a purchase is reserved beside its gas", async () => {
  const buyer = await newBuyer(chain);
  const id = await ledger.buy(purchaseRequest(buyer.address));
  await ledger.settled(id);
  const stored = await reservationOf(id);
  ({ gas, reserved } = stored);
  const { r: _r, s: _s, v: _v, yParity: _y, ...unsigned } = parseTransaction(stored.signed);
  const bytes = BigInt((serializeTransaction(unsigned).length - 2) / 2);
  expect(reserved - gas).toBeGreaterThanOrEqual(bytes * WEI_PER_BYTE);
  expect(await policiesOnChain(chain, buyer.address)).toHaveLength(1);
});

test("a balance that covers the gas and not the L1 fee: nothing is signed until the wallet is refilled", async () => {
  const buyer = await newBuyer(chain);
  const { address } = chain.relayer;
  await chain.client.setBalance({ address, value: 3n * gas });
  await waitForBalanceCacheToExpire(ledger.connection.sql);
  const id = await ledger.buy(purchaseRequest(buyer.address));
  await waitUntilPostponed(stack, id, 2);
  expect(await ledger.read(id)).toMatchObject({ state: "accepted" });
  await chain.client.setBalance({ address, value: parseEther("100") });
  expect((await ledger.settled(id)).state).toMatch(/mined|confirmed/);
});

test("a gas budget that covers the gas and not the L1 fee: the purchase is refused, and nothing is signed", async () => {
  const buyer = await newBuyer(chain);
  // As if this wallet had spent all of its budget but the gas of three purchases.
  const left = 3n * gas;
  expect(left).toBeLessThan(reserved);
  await ledger.connection.sql`
    insert into service.gas_day (chain_id, day, wallet, sender, wei) values (${chain.deployment.chainId},
      (now() at time zone 'utc')::date, ${buyer.address.toLowerCase()}, '', ${String(parseEther("1") - left)}::numeric)`;
  const id = await ledger.buy(purchaseRequest(buyer.address));
  expect(await ledger.settled(id)).toMatchObject({ state: "failed", code: "gas_budget_exceeded" });
  expect(await policiesOnChain(chain, buyer.address)).toEqual([]);
});
