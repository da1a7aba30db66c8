/**
 * Purchases with permits on a limited node, beside a stranger who sends the same permit, and with one that expires. What this
 * proves, checked on the chain: a permit is taken once and one policy is bought, or nothing is sent and the buyer knows why.
 */
import { afterEach, beforeAll, expect, test } from "vitest";
import { permitCalldata } from "../../lib/chain/permit.ts";
import { mineEverySecond, mineNothing } from "../support/chain.ts";
import { policiesOnChain } from "../support/ledger.ts";
import { allowanceOf, signPermit } from "../support/permit.ts";
import {
  buyWith,
  expectOnePolicy,
  newPermit,
  permitsTaken,
  sentFor,
  VALUE,
} from "./support/permit-purchases.ts";
import { rpcError } from "./support/testnet-faults.ts";
import { startWriterSetup, type WriterSetup } from "./support/writer-setup.ts";

let setup: WriterSetup;

beforeAll(async () => {
  setup = await startWriterSetup();
});
afterEach(async () => {
  setup.proxy.intercept();
  await mineEverySecond(setup.chain);
});

test("a stranger sends the same permit while ours is in the pool: ours reverts, and the purchase buys", async () => {
  const { chain, ledger } = setup;
  const signed = await newPermit(setup);
  await mineNothing(chain);
  const bought = await buyWith(setup, signed);
  await ledger.atNode(bought.id);
  const { usdc, coverRouter } = chain.deployment.contracts;
  const data = permitCalldata({ owner: bought.buyer.address, spender: coverRouter }, bought.permit);
  // A block has the transaction with the highest tip first.
  const hash = await chain.client.sendTransaction({
    ...{ account: chain.owner, to: usdc, data, gas: 200_000n, chain: null },
    maxPriorityFeePerGas: 100n * 10n ** 9n,
    maxFeePerGas: 200n * 10n ** 9n,
  });
  await mineEverySecond(chain);
  expect((await chain.client.waitForTransactionReceipt({ hash })).status).toBe("success");
  await expectOnePolicy(setup, bought, ["permit reverted", "purchase done"]);
  expect(await ledger.connection.sql`select 1 from service.buyer_revert`).toEqual([]);
});

test("the permit expires before it is signed: the purchase fails with that reason, nothing is sent, and a new permit buys", async () => {
  const { chain, ledger, proxy } = setup;
  const deadline = (await chain.client.getBlock()).timestamp + 3n;
  const signed = await newPermit(setup, { deadline });
  // The writer reaches its node again only once the permit has expired.
  proxy.intercept(async () => "lost");
  const expired = await buyWith(setup, signed);
  await expect.poll(async () => (await chain.client.getBlock()).timestamp > deadline).toBe(true);
  proxy.intercept();
  expect(await ledger.settled(expired.id)).toMatchObject({
    state: "failed",
    code: "onchain_revert",
    message: expect.stringMatching(/ERC20InsufficientAllowance.*; its permit would revert: .*[Ee]xpired/),
    txHash: null,
  });
  expect(await sentFor(setup, expired)).toEqual([]);
  expect(await permitsTaken(chain, signed.buyer)).toBe(0n);
  expect(await policiesOnChain(chain, signed.buyer.address)).toEqual([]);
  const permit = await signPermit(chain, signed.buyer, { value: VALUE });
  await expectOnePolicy(setup, await buyWith(setup, { buyer: signed.buyer, permit }));
});

test("the node cannot simulate a sequence: the permit is mined alone, and then the purchase is signed", async () => {
  const { ledger, proxy } = setup;
  proxy.intercept(async (call, forward) =>
    call.method === "eth_simulateV1" ? rpcError("the method does not exist") : forward(),
  );
  const bought = await buyWith(setup, await newPermit(setup));
  await expectOnePolicy(setup, bought);
  const [permit, purchase] = await ledger.connection.sql<{ block: number; created: Date; settled: Date }[]>`
    select block_number::int as block, created_at as created, settled_at as settled from service.transaction
    where intent in (${bought.id}, ${bought.permitId}) order by nonce`;
  if (!permit || !purchase) throw new Error("a transaction is missing");
  expect(permit.block).toBeLessThan(purchase.block);
  expect(permit.settled.getTime()).toBeLessThan(purchase.created.getTime());
});

test("the node cannot simulate a sequence, and the allowance suffices: the permit is not sent", async () => {
  const { chain, proxy } = setup;
  proxy.intercept(async (call, forward) =>
    call.method === "eth_simulateV1" ? rpcError("the method does not exist") : forward(),
  );
  const first = await buyWith(setup, await newPermit(setup, { value: 2n * VALUE }));
  await expectOnePolicy(setup, first);
  const allowance = await allowanceOf(chain, first.buyer.address);
  const permit = await signPermit(chain, first.buyer, { value: VALUE });
  const second = await buyWith(setup, { buyer: first.buyer, permit });
  await setup.ledger.inState(second.id, "mined");
  expect(await sentFor(setup, second)).toEqual(["purchase done"]);
  expect(await permitsTaken(chain, first.buyer)).toBe(1n);
  expect(await policiesOnChain(chain, first.buyer.address)).toHaveLength(2);
  expect(await allowanceOf(chain, first.buyer.address)).toBeLessThan(allowance);
});
