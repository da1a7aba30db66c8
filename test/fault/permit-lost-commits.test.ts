/**
 * A database that has lost the commits of the nonces of purchases and of a permit, and a node that has lost their transactions, or
 * tells no fees. What this proves, checked on the chain: each is sent once more or found again, one policy is bought and one
 * permit is taken.
 */
import { afterEach, beforeAll, expect, test } from "vitest";
import { mineEverySecond, mineNothing } from "../support/chain.ts";
import { newBuyer, policiesOnChain, purchaseRequest } from "../support/ledger.ts";
import { askRpc } from "../support/rpc-proxy.ts";
import { loseSignatures } from "./support/lose-commits.ts";
import { buyWith, expectOnePolicy, newPermit, type PermitPurchase } from "./support/permit-purchases.ts";
import { mineAndWaitUntilSettled, waitUntilPostponed } from "./support/waits.ts";
import { startWriterSetup, type WriterSetup } from "./support/writer-setup.ts";

let setup: WriterSetup;

beforeAll(async () => {
  setup = await startWriterSetup({ CONFIRMATIONS: "3" });
});
afterEach(() => mineEverySecond(setup.chain));

const sql = () => setup.ledger.connection.sql;
const unknown = () => sql()`select 1 from service.relayer_wallet where unknown_from is not null`;

/** Bought once, and new purchases are signed again. */
async function expectBoughtOnce(bought: PermitPurchase): Promise<void> {
  await expectOnePolicy(setup, bought);
  await expect.poll(unknown).toEqual([]);
  await expectOnePolicy(setup, await buyWith(setup, await newPermit(setup)));
}

test("lost, and all disappear from the node: purchases with and without a permit are signed again", async () => {
  const { chain, ledger, stack } = setup;
  const [signed, other] = [await newPermit(setup), await newBuyer(chain)];
  await mineNothing(chain);
  const bought = await buyWith(setup, signed);
  const id = await ledger.buy(purchaseRequest(other.address));
  for (const one of [bought.id, id]) await ledger.atNode(one);
  const hashes = await sql()<{ hash: string }[]>`
    select a.hash from service.attempt a join service.transaction t on t.id = a.transaction_id
    where t.intent in (${bought.id}, ${bought.permitId}, ${id}) order by t.nonce desc`;
  await stack.stopService("writer");
  await loseSignatures(sql(), [bought.id, id]);
  await stack.start("writer");
  await expect.poll(unknown).not.toEqual([]);
  for (const { hash } of hashes) await askRpc(chain.url, "anvil_dropTransaction", [hash]);
  // Until it is certain that nobody has them, they must not expire.
  await sql()`update service.waiting set created_at = now()`;
  await mineEverySecond(chain);
  await expectBoughtOnce(bought);
  expect((await ledger.settled(id)).state).toMatch(/mined|confirmed/);
  expect(await policiesOnChain(chain, other.address)).toHaveLength(1);
});

test("lost while the node tells no fees: the overdue purchase does not fail, and is found once it does", async () => {
  const { chain, proxy, stack } = setup;
  const bought = await buyWith(setup, await newPermit(setup));
  await expectOnePolicy(setup, bought);
  proxy.intercept(async (call, forward) =>
    call.method === "eth_maxPriorityFeePerGas" ? { error: { code: -32000, message: "no fees" } } : forward(),
  );
  // With a new block the writer forgets the fees that it knows.
  await mineAndWaitUntilSettled(chain, sql());
  await loseSignatures(sql(), [bought.id], { age: 600 });
  await waitUntilPostponed(stack, bought.id, 2);
  proxy.intercept();
  await expectBoughtOnce(bought);
});
