/**
 * Contracts that bought policies, and burn all gas when they receive their bonds in a block, though not in a simulation. What this proves,
 * from chain and ledger: a hundred of them cost a tenth of the keeper's budget at most, two calls each; others are paid beside them and
 * after them; honest accounts with code are paid, with the limit that every payout alone has.
 */
import { parseEther } from "viem";
import { beforeAll, expect, test } from "vitest";
import { upkeepGas } from "../../lib/chain/trigger.ts";
import { lower } from "../../lib/lower.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import * as act from "../support/protocol-actions.ts";
import { type BondReceiver, deployReceiver } from "./support/bond-receiver.ts";
import { buyAs, delegatedAccount, deploySafe } from "./support/contract-accounts.ts";
import {
  btc1h,
  buyPolicies,
  crash,
  owner,
  prepareBuyer,
  stateOf,
  untilPaid,
} from "./support/keeper-policies.ts";
import { type KeeperSetup, startKeeperSetup } from "./support/keeper-setup.ts";
import { expectTriggeredOnce, failuresOf } from "./support/keeper-truth.ts";

const HOSTILE = 100;
/** The keeper's budget of a day, in ether: a tenth of it pays for a few dozen hostile payouts. */
const BUDGET = "0.5";

let setup: KeeperSetup;
beforeAll(async () => {
  setup = await startKeeperSetup({ env: { writer: { KEEPER_GAS_BUDGET_ETH: BUDGET } } });
  await prepareBuyer(setup);
});

/** What counts for the keeper's day, in wei: in all, and for payouts that run their receivers' code. */
async function spentToday(): Promise<{ all: bigint; ofCode: bigint }> {
  const rows = await setup.connection.sql<{ wallet: string; wei: string }[]>`
    select wallet, sum(wei) as wei from service.gas_day where wallet in ('keeper', 'keeper:code') group by 1`;
  const of = (wallet: string) => BigInt(rows.find((row) => row.wallet === wallet)?.wei ?? 0);
  return { all: of("keeper"), ofCode: of("keeper:code") };
}

test("a Safe, and an account with code by EIP-7702, are paid alone, as the first of a month", async () => {
  const accounts = [await deploySafe(setup), await delegatedAccount(setup)];
  const ids: bigint[] = [];
  for (const account of accounts) ids.push(await buyAs(setup, account, btc1h));
  await crash(setup);
  await untilPaid(setup, ids);
  await expectTriggeredOnce(setup, ids);
  expect(await failuresOf(setup, ids)).toEqual([]);
  const limits = await setup.connection.sql<{ limit: string; of: string }[]>`
    select gas_limit as "limit", runs_code_of as "of" from service.transaction where runs_code_of is not null order by nonce`;
  expect(new Set(limits.map(({ of }) => of))).toEqual(new Set(accounts.map(lower)));
  expect(limits.map(({ limit }) => limit)).toEqual(accounts.map(() => String(upkeepGas(1))));
});

test("a hundred hostile contracts: nine tenths of the budget are left, and those that are due beside and after them are paid", async () => {
  await act.refreshFeeds(setup.protocol, owner);
  const receivers: BondReceiver[] = [];
  const hostile: bigint[] = [];
  for (let n = 0; n < HOSTILE; n += 1) {
    const receiver = await deployReceiver(
      setup,
      n % 10 === 0 ? "stores in blocks alone" : "burns all gas in blocks alone",
    );
    receivers.push(receiver);
    hostile.push(await receiver.buy(btc1h));
  }
  const beside = await buyPolicies(setup, 15);
  await crash(setup);
  await untilPaid(setup, beside);
  await expectTriggeredOnce(setup, beside);
  expect(await failuresOf(setup, beside)).toEqual([]);

  const { connection } = setup;
  // Nothing waits for its time, so that whatever may be tried again is.
  await waitFor({
    what: "the contracts' share to be spent",
    probe: async () => {
      await connection.sql`update service.keeper_task set retry_at = now() where failures > 0`;
      const [row] = await connection.sql<{ open: number }[]>`
        select count(*)::int as open from service.transaction where runs_code_of is not null and state = 'open'`;
      const { ofCode } = await spentToday();
      return (row?.open === 0 && ofCode + parseEther("0.005") > parseEther(BUDGET) / 10n) || undefined;
    },
    timeoutMs: 240_000,
  });
  const after = await buyPolicies(setup, 5);
  await crash(setup);
  await untilPaid(setup, after);
  await expectTriggeredOnce(setup, after);

  const { all, ofCode } = await spentToday();
  expect(ofCode).toBeLessThanOrEqual(parseEther(BUDGET) / 10n);
  expect(all - ofCode).toBeLessThan(parseEther(BUDGET) / 2n);
  const tries = await connection.sql<{ of: string; tries: number; most: string }[]>`
    select runs_code_of as "of", count(*)::int as tries, max(gas_limit) as most from service.transaction
    where runs_code_of = any(${receivers.map(({ address }) => lower(address))}::text[]) group by 1`;
  expect(tries.length).toBeGreaterThan(HOSTILE / 4);
  for (const { tries: count, most } of tries) {
    expect(count).toBeLessThanOrEqual(2);
    expect(most).toBe(String(upkeepGas(1)));
  }
  const states = await Promise.all(hostile.map((id) => stateOf(setup, id)));
  expect(states.filter((state, n) => state === "triggered" && n % 10 !== 0)).toEqual([]);
});
