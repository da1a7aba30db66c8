/**
 * The keeper at work, over a real chain, indexer and writer. What this proves, from the chain: every due policy is triggered
 * without anybody's call, every expired one is closed, the redemption queue is paid; each once.
 */
import { parseAbiItem } from "viem";
import { beforeAll, expect, test } from "vitest";
import { waitFor } from "../../scripts/local/wait.ts";
import * as act from "../support/protocol-actions.ts";
import {
  btc1h,
  buyPolicies,
  crash,
  keeperNonce,
  owner,
  prepareBuyer,
  stateOf,
  untilAll,
  untilPaid,
} from "./support/keeper-policies.ts";
import { type KeeperSetup, keeperWallet, startKeeperSetup } from "./support/keeper-setup.ts";

let setup: KeeperSetup;
beforeAll(async () => {
  setup = await startKeeperSetup();
  await prepareBuyer(setup);
});

const triggeredLog = parseAbiItem(
  "event PolicyTriggered(bytes32 indexed productId, uint256 indexed policyId, address buyer, uint256 bondAmount, bytes32 reason)",
);
const triggers = ({ protocol }: KeeperSetup) =>
  protocol.client.getLogs({
    address: protocol.deployment.contracts.policyManager,
    event: triggeredLog,
    fromBlock: 0n,
  });

test("policies that stay low are triggered by three observations in few transactions, and no other policy is", async () => {
  const due = await buyPolicies(setup, 30);
  const before = await keeperNonce(setup.chain, keeperWallet.address);
  await crash(setup);
  const safe = await buyPolicies(setup, 1);
  await untilPaid(setup, due);
  expect((await triggers(setup)).map(({ args }) => args.policyId).sort()).toEqual([...due].sort());
  expect(await stateOf(setup, safe[0] ?? 0n)).toBe("open");
  const sent = (await keeperNonce(setup.chain, keeperWallet.address)) - before;
  expect(sent).toBeLessThan(15);
});

test("an expired policy is closed, so that the vault's capacity is free again", async () => {
  await act.refreshFeeds(setup.protocol, owner);
  const [policyId = 0n] = await buyPolicies(setup, 1);
  await act.timeTravel(setup.protocol, BigInt(btc1h.durationSeconds) + 1n);
  await untilAll(setup, "expired", [policyId]);
});

test("commits of a trigger that are lost: the chain's transactions are found, and the next fall is paid", async () => {
  const { protocol, connection } = setup;
  await act.refreshFeeds(protocol, owner);
  const first = await buyPolicies(setup, 2);
  await crash(setup);
  await untilPaid(setup, first);
  const wallet = keeperWallet.address.toLowerCase();
  await connection.sql.begin(async (tx) => {
    await tx`delete from service.keeper_task`;
    const lost = await tx<
      { nonce: string }[]
    >`select nonce from service.transaction where wallet = ${wallet}`;
    expect(lost.length).toBeGreaterThan(0);
    await tx`delete from service.attempt where transaction_id in (
      select id from service.transaction where wallet = ${wallet})`;
    await tx`delete from service.transaction where wallet = ${wallet}`;
    await tx`delete from service.service_transaction where sender = ${wallet}`;
    await tx`
      update service.relayer_wallet set next_nonce = 0, open_from = 0, final_below = 0 where address = ${wallet}`;
  });
  await act.refreshFeeds(protocol, owner);
  const second = await buyPolicies(setup, 2);
  await crash(setup);
  await untilPaid(setup, second);
  const unknown = () => connection.sql`select 1 from service.relayer_wallet where unknown_from is not null`;
  await expect.poll(unknown).toEqual([]);
});

test("the writer's metrics show what the keeper has done, and how fast", async () => {
  const { protocol, stack } = setup;
  const metrics = async () => (await fetch(`http://127.0.0.1:${stack.settings.metricsPort}/metrics`)).text();
  expect(await metrics()).toMatch(/^keeper_work_total\{purpose="trigger",outcome="begun"\} 102$/m);
  // What was triggered before the writer first looked at the index is not measured.
  await waitFor({
    what: "a trigger to be measured",
    probe: async () => {
      if (/^keeper_due_to_mined_seconds_count [1-9]/m.test(await metrics())) return true;
      await act.refreshFeeds(protocol, owner);
      const due = await buyPolicies(setup, 1);
      await crash(setup);
      await untilPaid(setup, due);
      return undefined;
    },
  });
  const text = await metrics();
  expect(text).toMatch(/^keeper_can_send 1$/m);
  expect(text).toMatch(/^keeper_set_aside 0$/m);
  expect(text).toMatch(/^keeper_last_look_seconds [0-9.]+$/m);
  // It is left out where the node does not answer within two seconds.
  await expect
    .poll(metrics)
    .toMatch(/^relay_wallet_balance_wei\{wallet="0x[0-9a-f]{40}",role="keeper"\} \d/m);
});
