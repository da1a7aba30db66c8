/** Proves that every event of the contracts has a projection, and every table a projection that fills it. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { getTableName, is } from "drizzle-orm";
import { getTableConfig, PgTable } from "drizzle-orm/pg-core";
import { type Abi, zeroAddress } from "viem";
import { expect, inject, test, vi } from "vitest";
import { contractKeys, optionalContractKeys } from "../../lib/deployments.ts";
import * as schema from "../../ponder.schema.ts";
import { SOURCES_VARIABLE } from "../../src/shared/sources.ts";

const root = join(import.meta.dirname, "..", "..");

/** Events without a projection, and the reason. */
const excluded: Readonly<Record<string, string>> = {
  "ClaimBond:ApprovalForAll": "only allows transfers; the transfers themselves are indexed",
  "ClaimBond:ObligationsSyncSkipped": "the vault's obligations stay as they are",
  "TwapBurner:AdaptiveDistributionExecuted": "BurnExecuted has the burned part, and no read shows the rest",
  "TwapBurner:LegacyBurnExecuted": "BurnExecuted before it has the same USDC, and the burned tokens",
  "BuybackEngine:OfferExecuted": "Bought in the same transaction has the listing and its price",
  "BondVault:AutoInjectionTriggered": "the token's transfer before it has the injected amount",
  "BondVault:FloorPriceBreached": "stops nothing",
  "BondVault:PoliciesPausedSet": "stops nothing",
  "BondVault:QueueProcessed": "BondRedeemed before it has each payment",
  "ProtocolToken:Approval": "no indexed read returns allowances",
  "ShieldAdapter:PolicySettled": "the shield's PolicyVerified has each evaluation",
  "ShieldKeeper:PolicySettled": "the shield's PolicyVerified has each evaluation",
  "ShieldKeeper:SettlementFailed": "changes nothing",
  "Proxy:Upgraded": "the same event as of the contract behind it, which is indexed",
  "MockUSDC:Approval": "USDC is not indexed",
  "MockUSDC:EIP712DomainChanged": "USDC is not indexed",
  "MockUSDC:Transfer": "USDC is not indexed: the events of premiums, sales and burns have their amounts",
  "MockAggregator:AnswerUpdated": "the same event as of PriceAggregator, which is indexed",
  "ForkedAggregator:AnswerUpdated": "the same event as of PriceAggregator, which is indexed",
  "MockSequencerFeed:AnswerUpdated":
    "the same event as of PriceAggregator; of the uptime feed it is indexed as SequencerFeed",
  "PriceProofVerifier:EIP712DomainChanged": "signed prices are not indexed",
  "MockPriceFeed:AggregatorConfirmed": "the same event as of PriceFeedProxy, which is indexed",
};

const isAbi = (value: unknown): value is Abi => Array.isArray(value);

/** `Contract:Event` of every file in `abis/`. */
async function eventsOfAbis(): Promise<string[]> {
  const files = readdirSync(join(root, "abis")).filter((file) => file.endsWith(".ts"));
  const events: string[] = [];
  for (const file of files) {
    const module: Record<string, unknown> = await import(`../../abis/${file}`);
    const abi = Object.values(module).find(isAbi) ?? [];
    for (const item of abi) if (item.type === "event") events.push(`${file.slice(0, -3)}:${item.name}`);
  }
  return events;
}

/** The text of all projections. */
const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && !file.startsWith("api"))
  .map((file) => readFileSync(join(root, "src", file), "utf8"))
  .join("\n");
const projected = new Set([...sources.matchAll(/"([A-Z]\w*:\w+)"/g)].map(([, name]) => name));

test("every event in abis/ has a projection or a reason for none", async () => {
  const events = await eventsOfAbis();
  expect(events.length).toBeGreaterThan(40);
  expect(events.filter((event) => !projected.has(event) && !(event in excluded))).toEqual([]);
});

test("each exclusion is an existing event without a projection", async () => {
  const events = await eventsOfAbis();
  expect(Object.keys(excluded).filter((event) => !events.includes(event) || projected.has(event))).toEqual(
    [],
  );
});

test("every table is filled by a projection", () => {
  const tables = Object.entries(schema).filter(([, value]) => is(value, PgTable));
  const filled = new Set([...sources.matchAll(/\.insert\(\s*(\w+)/g)].map(([, name]) => name));
  expect(tables.length).toBeGreaterThan(20);
  expect(tables.map(([name]) => name).filter((name) => !filled.has(name))).toEqual([]);
});

test("each table has the name of its export", () => {
  for (const [name, table] of Object.entries(schema)) {
    if (!is(table, PgTable)) continue;
    expect(getTableName(table)).toBe(name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
  }
});

const addresses = (keys: readonly string[], from: number): Record<string, string> =>
  Object.fromEntries(keys.map((key, index) => [key, `0x${(index + from).toString(16).padStart(40, "0")}`]));
const required = addresses(contractKeys, 1);
const [aggregator, other, shield, adapter, priceOracle] = ["a", "b", "c", "d", "e"].map(
  (digit) => `0x${digit.repeat(40)}`,
);

/** The configuration for contracts, and for an uptime feed's aggregators. */
async function configure(contracts: Record<string, string>, sequencer: readonly unknown[]) {
  const [btc, eth] = [contracts.btcUsdFeed, contracts.ethUsdFeed];
  const sources: unknown = {
    firstBlock: 3,
    prices: [
      { asset: "0x42", proxy: btc, phases: [{ phase: 1, aggregator, since: null }] },
      { asset: "0x45", proxy: eth, phases: [{ phase: 1, aggregator: other, since: 3 }] },
    ],
    sequencer: { aggregators: sequencer, before: null },
    shields: [{ productId: "0x11", adapter, shield }],
    priceOracle,
    statesFrom: 7,
    catalogue: [],
  };
  const file = join(inject("runFolder"), "coverage-deployment.json");
  writeFileSync(file, JSON.stringify({ chainId: 8453, name: "Somewhere", startBlock: 7, contracts }));
  vi.stubEnv("DATABASE_URL", "postgres://localhost/unused");
  vi.stubEnv("RPC_URL", "http://localhost:1");
  vi.stubEnv("DEPLOYMENT_FILE", file);
  vi.stubEnv(SOURCES_VARIABLE, JSON.stringify(sources));
  vi.resetModules();
  const { default: config } = await import("../../ponder.config.ts");
  vi.unstubAllEnvs();
  return config;
}

test("every contract with a projection is a source, with the address of the deployment file", async () => {
  const contracts = { ...required, ...addresses(optionalContractKeys, 50) };
  const { sequencerFeed } = contracts;
  const config = await configure(contracts, [sequencerFeed]);
  const names = [...projected].flatMap((event) => event?.split(":")[0] ?? []);
  expect([...new Set(names)].sort()).toEqual(
    [...Object.keys(config.contracts), ...Object.keys(config.blocks)].sort(),
  );
  const { PriceAggregator, PriceFeedProxy, SequencerFeed, ...others } = config.contracts;
  // The vault's payments are the token's logs too, by another filter.
  const { ReserveOutflow, ...addressed } = others;
  expect(ReserveOutflow).toMatchObject({ address: contracts.protocolToken, startBlock: 7 });
  const used = Object.values(addressed).flatMap(({ address }) => address);
  expect(new Set(used).size).toBe(used.length);
  const known = [...Object.values(contracts), shield, adapter, priceOracle].map((address) =>
    address?.toLowerCase(),
  );
  for (const address of used) expect(known).toContain(address.toLowerCase());
  for (const { startBlock } of Object.values(others)) expect(startBlock).toBe(7);
  // The first policies need the rounds before the start block.
  expect(PriceAggregator).toMatchObject({ address: [aggregator, other], startBlock: 3 });
  expect(PriceFeedProxy).toMatchObject({ address: [contracts.btcUsdFeed, contracts.ethUsdFeed] });
  expect(PriceFeedProxy).toMatchObject({ startBlock: 3 });
  expect(SequencerFeed).toMatchObject({ address: [sequencerFeed], startBlock: 3 });
  expect(config.chains.main).toMatchObject({ id: 8453, disableCache: false });
});

test("where the deployment has no keeper contract, registry or uptime feed, nothing is read for them", async () => {
  const { contracts } = await configure(required, []);
  const { ShieldKeeper, GlobalPauseRegistry, SequencerFeed } = contracts;
  for (const source of [ShieldKeeper, GlobalPauseRegistry, SequencerFeed])
    expect(source).toMatchObject({ address: [zeroAddress], startBlock: "latest" });
});

test("every table with block numbers has an index that begins with them: a revert deletes rows by it", () => {
  const named = Object.values(schema).filter((table) => is(table, PgTable) && "blockNumber" in table);
  const without = named.filter((table) => {
    const { primaryKeys, indexes } = getTableConfig(table);
    const keys = [
      ...primaryKeys.map(({ columns }) => columns),
      ...indexes.map(({ config }) => config.columns),
    ];
    return !keys.some(([first]) => first !== undefined && "name" in first && first.name === "block_number");
  });
  expect(named).not.toEqual([]);
  expect(without.map((table) => getTableName(table))).toEqual([]);
});
