/**
 * What this proves: another build, chain, first block, address, aggregator, adapter or term of a product has another schema; a node that has forgotten old
 * states gets the same one.
 */
import { expect, test } from "vitest";
import { type Contracts, contractKeys, isComplete } from "../../lib/deployments.ts";
import { indexerSchemaName } from "../../scripts/indexer/schema-name.ts";

const address = (n: number) => `0x${String(n).padStart(40, "0")}` as const;
const [feed, aggregator, other, third] = [address(90), address(91), address(92), address(93)] as const;

function nameOf({
  build = ["sources", "patches"],
  chainId = 8453,
  firstContract = address(0),
  chain = { genesisHash: "0x1", startBlock: 7 },
  newest = aggregator,
  since = 3,
  proxy = feed,
  sequencer = other,
  adapter = address(94),
  priceOracle = address(95),
  triggerDropBps = 250,
} = {}): string {
  const contracts: { -readonly [K in keyof Contracts]?: Contracts[K] } = {};
  for (const [n, key] of contractKeys.entries()) contracts[key] = n === 0 ? firstContract : address(n);
  if (!isComplete(contracts)) throw new Error("a contract is missing");
  return indexerSchemaName(build, { chainId, contracts }, chain, {
    prices: [{ asset: "0x42", proxy, phases: [{ phase: 1, aggregator: newest, since }] }],
    sequencer: { aggregators: [sequencer], before: null },
    shields: [{ productId: "0x11", adapter, shield: address(96) }],
    priceOracle,
    catalogue: [{ productId: "0x11", name: "A", asset: "0x42", durationSeconds: 60, triggerDropBps }],
  });
}

test("another build has another schema", () => {
  const names = [
    nameOf(),
    nameOf({ build: ["other sources", "patches"] }),
    nameOf({ build: ["sources", "other patches"] }),
    nameOf({ firstContract: address(80) }),
    nameOf({ chain: { genesisHash: "0x2", startBlock: 7 } }),
    nameOf({ chain: { genesisHash: "0x1", startBlock: 8 } }),
    nameOf({ chainId: 8454 }),
    nameOf({ newest: third }),
    nameOf({ proxy: third }),
    nameOf({ sequencer: third }),
    nameOf({ adapter: third }),
    nameOf({ priceOracle: third }),
    nameOf({ triggerDropBps: 251 }),
  ];
  expect(new Set(names).size).toBe(names.length);
});

test("the same build has the same schema, whatever its node remembers of the feeds", () => {
  expect(nameOf({ since: 4 })).toBe(nameOf());
  expect(nameOf()).toMatch(/^idx_[0-9a-f]{12}$/);
});
