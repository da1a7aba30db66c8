/**
 * A database that has lost the commits of a permit's nonce and of its purchase's. What this proves, checked on the chain: both are
 * found again, one policy is bought and one permit is taken.
 */
import { afterEach, beforeAll, expect, test } from "vitest";
import { mineEverySecond, mineNothing } from "../support/chain.ts";
import { askRpc } from "../support/rpc-proxy.ts";
import { loseSignatures } from "./support/lose-commits.ts";
import {
  buyWith,
  expectOnePolicy,
  newPermit,
  type PermitPurchase,
  sentFor,
} from "./support/permit-purchases.ts";
import { mineAndWaitUntilSettled, waitUntilPostponed } from "./support/waits.ts";
import { startWriterSetup, type WriterSetup } from "./support/writer-setup.ts";

let setup: WriterSetup;

beforeAll(async () => {
  setup = await startWriterSetup({ CONFIRMATIONS: "3" });
});
afterEach(() => mineEverySecond(setup.chain));

const sql = () => setup.ledger.connection.sql;
const unknown = () => sql()`select 1 from service.relayer_wallet where unknown_from is not null`;
const lose = ({ id }: PermitPurchase, age = 0) => loseSignatures(sql(), [id], { age });

/** Bought once, and new purchases are signed again. */
async function expectBoughtOnce(bought: PermitPurchase): Promise<void> {
  await expectOnePolicy(setup, bought);
  await expect.poll(unknown).toEqual([]);
  await expectOnePolicy(setup, await buyWith(setup, await newPermit(setup)));
}

test("lost while the writer is down, long after both were mined: both are found on the chain", async () => {
  const bought = await buyWith(setup, await newPermit(setup));
  await expectOnePolicy(setup, bought);
  await setup.stack.stopService("writer");
  await lose(bought, 600);
  expect(await sentFor(setup, bought)).toEqual([]);
  await setup.stack.start("writer");
  await expectBoughtOnce(bought);
});

test("lost under a running writer: both are found on the chain", async () => {
  const bought = await buyWith(setup, await newPermit(setup));
  await expectOnePolicy(setup, bought);
  await lose(bought);
  await expectBoughtOnce(bought);
});

test("lost before both are mined: neither is signed again", async () => {
  const { chain, ledger, stack } = setup;
  const signed = await newPermit(setup);
  await mineNothing(chain);
  const bought = await buyWith(setup, signed);
  await ledger.atNode(bought.id);
  await stack.stopService("writer");
  await lose(bought);
  await stack.start("writer");
  await expect.poll(unknown).not.toEqual([]);
  await mineEverySecond(chain);
  await expectBoughtOnce(bought);
});

test("lost, and both disappear from the node: both are signed again", async () => {
  const { chain, ledger, stack } = setup;
  const signed = await newPermit(setup);
  await mineNothing(chain);
  const bought = await buyWith(setup, signed);
  await ledger.atNode(bought.id);
  const hashes = await sql()<{ hash: string }[]>`
    select a.hash from service.attempt a join service.transaction t on t.id = a.transaction_id
    where t.intent in (${bought.id}, ${bought.permitId}) order by t.nonce desc`;
  await stack.stopService("writer");
  await lose(bought);
  await stack.start("writer");
  await expect.poll(unknown).not.toEqual([]);
  for (const { hash } of hashes) await askRpc(chain.url, "anvil_dropTransaction", [hash]);
  // Until it is certain that nobody has them, they must not expire.
  await sql()`update service.waiting set created_at = now()`;
  await mineEverySecond(chain);
  await expectBoughtOnce(bought);
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
  await lose(bought, 600);
  await waitUntilPostponed(stack, bought.id, 2);
  proxy.intercept();
  await expectBoughtOnce(bought);
});
