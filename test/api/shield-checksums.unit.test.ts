/** The shields within a page that Postgres wrote: each is found and replaced, however short the entries are. */
import { getAddress } from "viem";
import { expect, test } from "vitest";
import { type PolicyRecord, policyBody } from "../../api/chain/policy-body.ts";
import { writeChecksums } from "../../api/policies/entry-json.ts";

const SHIELD = `0x${"ab".repeat(20)}` as const;

/** Every value is as short as it can be. */
const shortest: PolicyRecord = {
  productId: `0x${"0".repeat(64)}`,
  policyId: 1n,
  shield: SHIELD,
  buyer: `0x${"0".repeat(40)}`,
  coverage: 0n,
  payout: 0n,
  premium: 0n,
  priceSnapshot: 0n,
  createdAt: 0n,
  waitingEndsAt: 0n,
  expiresAt: 1n,
  triggeredAt: null,
  cancelled: false,
  bondEpochId: 0n,
  strike: 0n,
  triggerPrice: 1n,
  productName: "",
  productActive: true,
  current: { price: 1n, updatedAt: 0n },
  due: false,
};

const pageOf = (policies: readonly PolicyRecord[]) =>
  JSON.stringify(
    policies.map((policy) => ({
      ...policyBody(policy, { number: 0n, hash: `0x${"0".repeat(64)}`, timestamp: 0n, source: "index" }),
      txHash: `0x${"0".repeat(64)}`,
      blockNumber: "0",
      logIndex: 0,
    })),
  );

test.each([
  ["the shortest entries", [shortest, shortest, shortest]],
  ["names with the key of a shield", [{ ...shortest, productName: '"shield":"' }, shortest]],
])("the shield of each entry gets its checksum: %s", (_of, policies) => {
  const page = pageOf(policies);
  const written = Buffer.from(page.replaceAll(getAddress(SHIELD), SHIELD));
  writeChecksums(written);
  expect(written.toString()).toBe(page);
});
