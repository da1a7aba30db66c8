/**
 * Times in which the keeper may not or cannot send: the operator's stops, a used-up gas budget, a wallet without ether. What this
 * proves: nothing is sent and the operator is told why; purchases go on, as the keeper does where the relayers cannot; due policies
 * are triggered once it may send again.
 */
import { parseEther } from "viem";
import { beforeAll, expect, test } from "vitest";
import { clearStop, type StopTarget, setStop } from "../../lib/ledger/stops.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { observationsOf } from "../support/falls.ts";
import {
  newBuyer,
  openLedger,
  policiesOnChain,
  purchaseRequest,
  type TestLedger,
} from "../support/ledger.ts";
import * as act from "../support/protocol-actions.ts";
import {
  btc1h,
  buyPolicies,
  crash,
  keeperNonce,
  owner,
  prepareBuyer,
  untilPaid,
} from "./support/keeper-policies.ts";
import { type KeeperSetup, keeperWallet, startKeeperSetup } from "./support/keeper-setup.ts";
import {
  expectTriggeredOnce,
  keeperTransactions,
  untilDue,
  untilFault,
  untilIndexed,
} from "./support/keeper-truth.ts";

let setup: KeeperSetup;
let ledger: TestLedger;
beforeAll(async () => {
  setup = await startKeeperSetup();
  await prepareBuyer(setup);
  ledger = await openLedger(setup.chain, { databaseUrl: setup.stack.databaseUrl });
});

/** Policies fall due while the keeper cannot send for this reason: it sends nothing, and tells. @returns the policies. */
async function fallDueInVain(fault: RegExp): Promise<bigint[]> {
  const { chain } = setup;
  const due = await buyPolicies(setup, 2);
  await untilFault(setup, fault);
  const before = [await keeperNonce(chain, keeperWallet.address), (await keeperTransactions(setup)).length];
  await crash(setup);
  await untilIndexed(setup);
  await untilDue(setup, due.length);
  expect([await keeperNonce(chain, keeperWallet.address), (await keeperTransactions(setup)).length]).toEqual(
    before,
  );
  return due;
}

async function expectPaid(due: readonly bigint[]): Promise<void> {
  await untilPaid(setup, due);
  await expectTriggeredOnce(setup, due);
}

/** A relayed purchase, from its acceptance to its policy. */
async function expectBought(): Promise<void> {
  const buyer = await newBuyer(setup.chain);
  const purchase = await ledger.settled(await ledger.buy(purchaseRequest(buyer.address)));
  expect(purchase).toMatchObject({ receipt: { policyId: expect.any(BigInt) } });
  expect(await policiesOnChain(setup.chain, buyer.address)).toHaveLength(1);
}

const stops: readonly (StopTarget & { readonly purchases: boolean })[] = [
  { scope: "keeper", purchases: true },
  { scope: "wallet", wallet: keeperWallet.address, purchases: true },
  { scope: "global", purchases: false },
];

test.each(stops)(
  "a stop of $scope: nothing is triggered until it is lifted",
  async ({ purchases, ...target }) => {
    const { connection } = setup;
    await setStop(connection.sql, target, "test");
    const due = await fallDueInVain(/operator has stopped it/);
    if (purchases) await expectBought();
    await clearStop(connection.sql, target);
    await expectPaid(due);
  },
);

/** More than the day's gas budget of a test's writer, in wei. */
const TOO_MUCH = parseEther("2000000");

/** Sets the day's gas cost of the keeper ("keeper"), or of all other wallets (""). */
const spend = (account: "keeper" | "", wei: bigint) => setup.connection.sql`
  insert into service.gas_day as g (chain_id, day, wallet, sender, wei)
  values (${setup.chain.deployment.chainId}, (now() at time zone 'utc')::date, ${account}, '', ${String(wei)}::numeric)
  on conflict (chain_id, day, wallet, sender) do update set wei = excluded.wei`;

test("the keeper's gas budget is used up: purchases go on, and due policies are triggered once it may spend again", async () => {
  await spend("keeper", TOO_MUCH);
  const due = await fallDueInVain(/gas that may be spent in a day/);
  await expectBought();
  await spend("keeper", 0n);
  await expectPaid(due);
});

test("the relayers' gas budget is used up: due policies are triggered all the same", async () => {
  await spend("", TOO_MUCH);
  const { address } = await newBuyer(setup.chain);
  const purchase = await ledger.settled(await ledger.buy(purchaseRequest(address)));
  expect(purchase).toMatchObject({ state: "failed", code: "relayer_unavailable" });
  const due = await buyPolicies(setup, 2);
  await crash(setup);
  await expectPaid(due);
  await spend("", 0n);
});

test("the keeper's wallet has no ether: the operator reads what it needs, and it goes on when it has some", async () => {
  const { client } = setup.chain;
  const { address } = keeperWallet;
  await act.refreshFeeds(setup.protocol, owner);
  await client.setBalance({ address, value: 0n });
  const due = await fallDueInVain(new RegExp(`${address} has 0 ETH and needs .* ETH for a trigger`));
  await expectBought();
  await client.setBalance({ address, value: parseEther("1") });
  await expectPaid(due);
});

/** Policies of two full upkeeps. */
const BATCH = 20;
/** Gas that the balance pays for: enough for an upkeep of a few policies. */
const PAID_GAS = 1_500_000n;

test("the wallet's ether does not cover a batch of all due policies: those that it covers are observed", async () => {
  const { client } = setup.chain;
  const { address } = keeperWallet;
  await act.refreshFeeds(setup.protocol, owner);
  const due = await buyPolicies(setup, BATCH);
  const { maxFeePerGas } = await client.estimateFeesPerGas({ type: "eip1559" });
  await client.setBalance({ address, value: PAID_GAS * maxFeePerGas });
  await crash(setup);
  await waitFor({
    what: "the first policy to be observed",
    probe: async () => (await observationsOf(setup.protocol, btc1h, due[0] ?? 0n)) > 0 || undefined,
  });
  await client.setBalance({ address, value: parseEther("1") });
  await expectPaid(due);
});
