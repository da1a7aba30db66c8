/**
 * The keeper at work, over a real chain, indexer and writer. What this proves, from the chain: every due policy is triggered
 * without anybody's call, every expired one is closed, the redemption queue is paid; each once.
 */
import { parseAbiItem } from "viem";
import { beforeAll, expect, test } from "vitest";
import { waitFor } from "../../scripts/local/wait.ts";
import { atEnd } from "../support/cleanup.ts";
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

test("policies that a fall makes due are triggered in few transactions, and no other policy is", async () => {
  const due = await buyPolicies(setup, 30);
  const before = await keeperNonce(setup.chain, keeperWallet.address);
  await crash(setup);
  const safe = await buyPolicies(setup, 1);
  await untilAll(setup, "triggered", due);
  expect((await triggers(setup)).map(({ args }) => args.policyId).sort()).toEqual([...due].sort());
  expect(await stateOf(setup, safe[0] ?? 0n)).toBe("open");
  const sent = (await keeperNonce(setup.chain, keeperWallet.address)) - before;
  expect(sent).toBeLessThan(10);
});

test("an expired policy is closed, so that the vault's capacity is free again", async () => {
  await act.refreshFeeds(setup.protocol, owner);
  const [policyId = 0n] = await buyPolicies(setup, 1);
  await act.timeTravel(setup.protocol, BigInt(btc1h.durationSeconds) + 1n);
  await untilAll(setup, "expired", [policyId]);
});
