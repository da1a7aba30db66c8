/**
 * A database that has lost its last commits: a promoted standby, or a restored backup. What this proves, checked on the
 * chain: what was bought is found again, with and without a permit, and is not bought twice; transactions of another program stop
 * all new ones until the operator has accepted them.
 */
import type { LocalAccount } from "viem";
import { afterEach, beforeAll, expect, test } from "vitest";
import { anvilAccount } from "../../lib/chain/client.ts";
import { privateKeyOf } from "../../scripts/local/anvil.ts";
import { purchaseCalldata } from "../../workers/relayer/purchase-calls.ts";
import { runLedger, tableOf } from "../scripts/support/ledger-command.ts";
import { mineEverySecond, mineNothing, startChain, type TestChain } from "../support/chain.ts";
import {
  newBuyer,
  openLedger,
  policiesOnChain,
  purchaseRequest,
  type TestLedger,
} from "../support/ledger.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { loseBytes, loseSignatures } from "./support/lose-commits.ts";
import { buyWith, expectOnePolicy, newPermit } from "./support/permit-purchases.ts";
import { waitUntilPostponed } from "./support/waits.ts";

const relayers = [anvilAccount(1), anvilAccount(2)] as const;

let chain: TestChain;
let stack: Stack;
let ledger: TestLedger;

beforeAll(async () => {
  chain = await startChain({ blockTime: 1, mixedMining: true, relayers });
  stack = await startStack({
    chain,
    services: ["api", "writer"],
    relayerKeys: relayers.map(privateKeyOf),
    env: { writer: { CONFIRMATIONS: "3" } },
  });
  ledger = await openLedger(chain, { databaseUrl: stack.databaseUrl });
});
afterEach(() => mineEverySecond(chain));

const buySeveral = (buyer: LocalAccount, count: number) =>
  Promise.all(
    Array.from({ length: count }, (_, n) =>
      ledger.buy(purchaseRequest(buyer.address), `${buyer.address}-${n}`),
    ),
  );
const settledAll = (ids: readonly string[]) => Promise.all(ids.map((id) => ledger.settled(id)));

/** Each purchase has a receipt, and together they are the buyer's policies on the chain. */
async function expectOnePolicyEach(ids: readonly string[], buyer: LocalAccount): Promise<void> {
  const settled = await settledAll(ids);
  const policies = await policiesOnChain(chain, buyer.address);
  expect(
    settled.map((one) => ("receipt" in one ? [one.receipt.txHash, one.receipt.policyId] : one)).toSorted(),
  ).toEqual(policies.map((policy) => [policy.transactionHash, policy.args.policyId]).toSorted());
  await expectNothingUnknown();
}

const unknown = () => ledger.connection.sql<{ address: string; from: string; below: string }[]>`
  select address, unknown_from as from, unknown_below as below from service.relayer_wallet where unknown_from is not null`;
const expectNothingUnknown = () => expect.poll(unknown).toEqual([]);

test("signatures are lost while the writer is down: old purchases are found on the chain and bought once", async () => {
  const buyer = await newBuyer(chain);
  const withPermit = await buyWith({ chain, ledger }, await newPermit({ chain, ledger }));
  const ids = await buySeveral(buyer, 4);
  await settledAll([...ids, withPermit.id]);
  await stack.stopService("writer");
  await loseSignatures(ledger.connection.sql, [...ids, withPermit.id], { age: 600 });
  await stack.start("writer");
  await expectOnePolicyEach(ids, buyer);
  await expectOnePolicy({ chain, ledger }, withPermit);
});

test("signatures are lost under a running writer: each purchase is bought once", async () => {
  const buyer = await newBuyer(chain);
  const withPermit = await buyWith({ chain, ledger }, await newPermit({ chain, ledger }));
  const ids = await buySeveral(buyer, 10);
  await settledAll([...ids, withPermit.id]);
  await loseSignatures(ledger.connection.sql, [...ids, withPermit.id]);
  // New purchases come at once.
  const more = await Promise.all(
    [1, 2, 3].map((n) => ledger.buy(purchaseRequest(buyer.address), `${buyer.address}-more-${n}`)),
  );
  await expectOnePolicyEach([...ids, ...more], buyer);
  await expectOnePolicy({ chain, ledger }, withPermit);
});

test("signatures are lost before their transactions are mined: each purchase is bought once", async () => {
  const [buyer, permit] = [await newBuyer(chain), await newPermit({ chain, ledger })];
  await mineNothing(chain);
  const withPermit = await buyWith({ chain, ledger }, permit);
  const ids = await buySeveral(buyer, 4);
  const all = [...ids, withPermit.id];
  for (const id of all) await ledger.atNode(id);
  await stack.stopService("writer");
  await loseSignatures(ledger.connection.sql, all);
  await stack.start("writer");
  await expect.poll(unknown).not.toEqual([]);
  await mineEverySecond(chain);
  await expectOnePolicyEach(ids, buyer);
  await expectOnePolicy({ chain, ledger }, withPermit);
});

test("the purchase is lost too, and its client repeats the call: bought once, also with two wallets", async () => {
  const buyer = await newBuyer(chain);
  const request = purchaseRequest(buyer.address);
  for (const n of [1, 2]) {
    const id = await ledger.buy(request, `repeated-${n}`);
    await ledger.settled(id);
    await loseSignatures(ledger.connection.sql, [id], { forget: true });
    const again = await ledger.buy(request, `repeated-${n}`);
    expect(again).not.toBe(id);
    await ledger.settled(again);
    expect(await policiesOnChain(chain, buyer.address)).toHaveLength(n);
  }
  await expectNothingUnknown();
});

test("a purchase that is lost is not taken for one with the same content and another key", async () => {
  const buyer = await newBuyer(chain);
  const request = purchaseRequest(buyer.address);
  const id = await ledger.buy(request, "first-key");
  await ledger.settled(id);
  const [first] = await policiesOnChain(chain, buyer.address);
  await loseSignatures(ledger.connection.sql, [id], { forget: true });
  const other = await ledger.buy(request, "second-key");
  // Its own writer signs nothing while the lost one is unknown.
  await waitUntilPostponed(stack, other, 2);
  const again = await ledger.buy(request, "first-key");
  expect(await ledger.settled(again)).toMatchObject({ receipt: { txHash: first?.transactionHash } });
  await expectOnePolicyEach([again, other], buyer);
});

test("a transaction of a version without marks is that of the oldest purchase with the same content", async () => {
  const buyer = await newBuyer(chain);
  const request = purchaseRequest(buyer.address);
  await stack.stopService("writer");
  const id = await ledger.buy(request, "before-the-update");
  const hash = await chain.client.sendTransaction({
    ...{ account: chain.relayer, chain: null, to: chain.deployment.contracts.coverRouter },
    data: purchaseCalldata(request),
  });
  await chain.client.waitForTransactionReceipt({ hash });
  await stack.start("writer");
  expect(await ledger.settled(id)).toMatchObject({ receipt: { txHash: hash } });
  await expectOnePolicyEach([id], buyer);
});

test("the ledger loses a purchase without a key and its permit: the writer records the permit, and the operator is shown the purchase", async () => {
  const { buyer, permit } = await newPermit({ chain, ledger });
  const id = await ledger.buy(purchaseRequest(buyer.address), undefined, undefined, permit);
  await ledger.settled(id);
  await loseSignatures(ledger.connection.sql, [id], { forget: true });
  const env = { RPC_URL: chain.url, DEPLOYMENT_FILE: chain.deploymentFile, CONFIRMATIONS: "3" };
  const run = (...args: string[]) => runLedger(stack.databaseUrl, ["reconcile", ...args], env);
  const left = async () => tableOf((await run()).said, "On the chain, unknown to the ledger");
  const [policy] = await policiesOnChain(chain, buyer.address);
  const bought = `buys 100.00 USDC of FLASHBTC1H-001 for ${buyer.address}: policy ${policy?.args.policyId}, premium 0.`;
  await expect.poll(left).toContain(bought);
  await expect.poll(async () => (await left()).match(/0x[0-9a-f]{64}/g) ?? []).toHaveLength(1);
  await expect
    .poll(async () => (await run("--accept", policy?.transactionHash ?? "")).said)
    .toContain("Accepted 1 of 1.");
  await expectNothingUnknown();
});

test("only a signed form is lost: its transaction is found under the nonce, and bought once", async () => {
  const buyer = await newBuyer(chain);
  const id = await ledger.buy(purchaseRequest(buyer.address), "form");
  await ledger.settled(id);
  await loseBytes(ledger.connection.sql, id);
  await expectOnePolicyEach([id], buyer);
});

test("another program uses a wallet: nothing is signed until the operator accepts its transaction", async () => {
  const env = { RPC_URL: chain.url, DEPLOYMENT_FILE: chain.deploymentFile, CONFIRMATIONS: "3" };
  const run = (...args: string[]) => runLedger(stack.databaseUrl, args, env);
  const send = (value: bigint) =>
    chain.client.sendTransaction({ account: chain.relayer, to: chain.owner.address, value, chain: null });
  const [foreign, another] = [await send(1n), await send(2n)];
  const { nonce } = await chain.client.getTransaction({ hash: foreign });
  await expect
    .poll(unknown)
    .toMatchObject([{ address: chain.relayer.address.toLowerCase(), below: String(nonce + 2) }]);
  const buyer = await newBuyer(chain);
  const refused = await ledger.buy(purchaseRequest(buyer.address), "refused");
  await waitUntilPostponed(stack, refused, 3);
  expect(await ledger.read(refused)).toMatchObject({ state: "accepted" });

  // Both leave out what the database does not answer in time.
  await expect
    .poll(async () => (await stack.request("/health")).json)
    .toMatchObject({
      reasons: expect.arrayContaining([
        { code: "transactions_unknown", message: expect.stringContaining(chain.relayer.address) },
      ]),
    });
  await expect
    .poll(async () => (await fetch(stack.metricsUrl)).text())
    .toContain(`relay_wallet_unknown_transactions{wallet="${chain.relayer.address.toLowerCase()}"} 2`);
  expect(tableOf((await run()).said, "Wallets")).toMatch(new RegExp(`${chain.relayer.address} .* 2 `));
  const shown = await run("reconcile");
  expect(tableOf(shown.said, "On the chain, unknown to the ledger")).toMatch(
    new RegExp(`${nonce} .*${foreign}`),
  );
  expect(shown.code).toBe(1);
  // The client has waited too long, and its purchase is younger than the unknown transaction: it fails.
  const { sql } = ledger.connection;
  await sql`update service.relayer_wallet set unknown_since = unknown_since - interval '1 minute'`;
  await sql`update service.waiting set created_at = created_at - interval '1 minute' where intent = ${refused}`;
  expect(await ledger.settled(refused)).toMatchObject({
    state: "failed",
    code: "relayer_unavailable",
  });

  const wrong = `0x${"12".repeat(32)}`;
  const accepted = await run("reconcile", "--accept", foreign, "--accept", wrong, "--accept", another);
  for (const line of [
    `nonce ${nonce} of`,
    `nonce ${nonce + 1} of`,
    "Accepted 2 of 3.",
    `${wrong} is not an unknown`,
  ])
    expect(accepted.said).toContain(line);
  expect(accepted.code).toBe(1);
  expect(await run("reconcile")).toMatchObject({ code: 0 });
  const id = await ledger.buy(purchaseRequest(buyer.address), "afterwards");
  await expectOnePolicyEach([id], buyer);
});

test("a backup is restored beside a running chain: the command records what is certain before a writer starts", async () => {
  const buyer = await newBuyer(chain);
  const ids = await buySeveral(buyer, 3);
  await settledAll(ids);
  const [last] = ids.slice(-1);
  if (!last) throw new Error("no purchase");
  await stack.stopService("writer");
  await loseSignatures(ledger.connection.sql, ids.slice(0, -1), { age: 600 });
  await loseSignatures(ledger.connection.sql, [last], { forget: true });
  const env = { RPC_URL: chain.url, DEPLOYMENT_FILE: chain.deploymentFile };
  const { said, code } = await runLedger(stack.databaseUrl, ["reconcile"], env);
  const left = tableOf(said, "On the chain, unknown to the ledger");
  expect(left.match(new RegExp(`buys .*${buyer.address}`, "g"))).toHaveLength(1);
  expect(code).toBe(1);
  expect(await ledger.connection.sql`select 1 from service.waiting`).toEqual([]);

  await stack.start("writer");
  const again = await ledger.buy(purchaseRequest(buyer.address), `${buyer.address}-2`);
  await expectOnePolicyEach([...ids.slice(0, -1), again], buyer);
});
