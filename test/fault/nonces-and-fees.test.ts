/**
 * What this proves: the writer fills an unused nonce, so that the transactions behind it are mined; it replaces a
 * transaction whose fee is too low by the same call with a higher fee; it signs nothing above the fee cap.
 */
import { privateKeyToAccount } from "viem/accounts";
import { beforeAll, expect, test } from "vitest";
import { anvilAccount } from "../../lib/chain/client.ts";
import { privateKeyOf } from "../../scripts/local/anvil.ts";
import { mineEverySecond, startChain, type TestChain } from "../support/chain.ts";
import {
  newBuyer,
  openLedger,
  policiesOnChain,
  purchaseRequest,
  type TestLedger,
} from "../support/ledger.ts";
import { askRpc } from "../support/rpc-proxy.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { mineAndWaitUntilSettled, mineBlockAt, waitUntilPostponed } from "./support/waits.ts";

const GWEI = 1_000_000_000n;

let chain: TestChain;
let stack: Stack;
let ledger: TestLedger;

beforeAll(async () => {
  chain = await startChain({ blockTime: 1, mixedMining: true, relayers: [anvilAccount(1)] });
  stack = await startStack({ chain, services: [], env: { writer: { MAX_FEE_GWEI: "40" } } });
  ledger = await openLedger(chain, { databaseUrl: stack.databaseUrl });
});

const attemptsOf = (id: string) => ledger.connection.sql<{ hash: string; max_fee: string; nonce: string }[]>`
  select a.hash, a.max_fee, t.nonce from service.attempt a join service.transaction t on t.id = a.transaction_id
  where t.intent = ${id} order by a.id`;

test("another program's pending transaction disappears after the start: the writer fills its nonce", async () => {
  const buyer = await newBuyer(chain);
  const relayer = privateKeyToAccount(privateKeyOf(anvilAccount(1)));
  // No mining, so that the other program's transaction stays in the node's pool while the writer starts.
  await askRpc(chain.url, "evm_setIntervalMining", [0]);
  await askRpc(chain.url, "evm_setAutomine", [false]);
  const outside = await chain.client.sendTransaction({
    account: relayer,
    to: relayer.address,
    nonce: 0,
    chain: null,
  });
  await stack.start("writer");
  await askRpc(chain.url, "anvil_dropTransaction", [outside]);
  await mineEverySecond(chain);

  const id = await ledger.buy(purchaseRequest(buyer.address));
  await ledger.settled(id);
  expect(new Set((await attemptsOf(id)).map((attempt) => attempt.nonce))).toEqual(new Set(["1"]));
  expect(await policiesOnChain(chain, buyer.address)).toHaveLength(1);
  const fillers = await ledger.connection
    .sql`select nonce, kind from service.transaction where kind = 'filler'`;
  expect(fillers).toEqual([{ nonce: "0", kind: "filler" }]);
});

test("the base fee rises above a transaction's fee: the same call is sent with a higher fee, and bought once", async () => {
  const buyer = await newBuyer(chain);
  // Nothing is mined until the fee has risen.
  await askRpc(chain.url, "evm_setIntervalMining", [0]);
  const id = await ledger.buy(purchaseRequest(buyer.address));
  await ledger.atNode(id);
  await askRpc(chain.url, "anvil_setNextBlockBaseFeePerGas", [`0x${(100n * GWEI).toString(16)}`]);
  // Only one block, so that the fee does not fall before the writer sees it.
  await mineAndWaitUntilSettled(chain, ledger.connection.sql);
  expect((await chain.client.getBlock()).baseFeePerGas).toBeGreaterThan(40n * GWEI);
  // Above the fee cap nothing is signed.
  const tooExpensive = await ledger.buy(purchaseRequest(buyer.address, "FLASHETH1H-001"));
  await waitUntilPostponed(stack, tooExpensive, 2);
  expect(await ledger.read(tooExpensive)).toMatchObject({ state: "accepted" });
  expect(await attemptsOf(tooExpensive)).toEqual([]);
  // Below the fee cap, and still above the fee of the first one.
  await mineBlockAt(chain, ledger.connection.sql, 30);
  await expect.poll(async () => (await attemptsOf(id)).length).toBeGreaterThanOrEqual(2);
  await mineEverySecond(chain);

  const bought = await ledger.settled(id);
  const attempts = await attemptsOf(id);
  expect(attempts.length).toBeGreaterThanOrEqual(2);
  expect(new Set(attempts.map((attempt) => attempt.nonce)).size).toBe(1);
  const [first, second] = attempts;
  expect(Number(second?.max_fee)).toBeGreaterThanOrEqual(Number(first?.max_fee) * 1.125);
  expect(Number(attempts.at(-1)?.max_fee)).toBeLessThanOrEqual(Number(40n * GWEI));
  if (!("receipt" in bought)) throw new Error(`it is ${bought.state}`);
  expect(attempts.slice(1).map((attempt) => attempt.hash)).toContain(bought.receipt.txHash);
  await ledger.settled(tooExpensive);
  expect(await policiesOnChain(chain, buyer.address)).toHaveLength(2);
});
