import { expect, test } from "vitest";
import { distanceBps } from "../../api/chain/policy-body.ts";
import { type PolicyTimes, policyStatus } from "../../lib/indexed/policy-status.ts";

const open: PolicyTimes = { triggered: false, cancelled: false, waitingEndsAt: null, expiresAt: 200n };
const waiting: PolicyTimes = { ...open, waitingEndsAt: 100n };

test.each<[name: string, policy: PolicyTimes, now: bigint, status: string]>([
  ["is active from the start without a waiting period", open, 0n, "Active"],
  ["is waiting until the second before its waiting period ends", waiting, 99n, "Waiting"],
  ["is active from the second in which its waiting period ends", waiting, 100n, "Active"],
  ["is active in its last second", open, 200n, "Active"],
  ["is expired a second after its last", open, 201n, "Expired"],
  ["is triggered whatever the time", { ...waiting, triggered: true }, 999n, "Triggered"],
  ["is cancelled whatever the time", { ...waiting, cancelled: true }, 0n, "Cancelled"],
  [
    "is expired even if its waiting period ends after its expiry",
    { ...open, waitingEndsAt: 150n, expiresAt: 120n },
    160n,
    "Expired",
  ],
  ["is expired once its key has come again", { ...open, replaced: true }, 0n, "Expired"],
  ["was paid before its key came again", { ...open, replaced: true, triggered: true }, 0n, "Triggered"],
])("a policy %s", (_, policy, now, status) => {
  expect(policyStatus(policy, now)).toBe(status);
});

test("the distance to the trigger is above zero exactly while the price is above the trigger", () => {
  const trigger = 58_500n * 10n ** 18n;
  expect(distanceBps(60_000n * 10n ** 18n, trigger)).toBe(250);
  expect(distanceBps(trigger + 1n, trigger)).toBe(1);
  expect(distanceBps(trigger, trigger)).toBe(0);
  expect(distanceBps(trigger - 1n, trigger)).toBe(0);
  expect(distanceBps(50_000n * 10n ** 18n, trigger)).toBe(-1700);
});
