/** Proves that every event of the contracts has a projection, and every table a projection that fills it. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { getTableName, is } from "drizzle-orm";
import { getTableConfig, PgTable } from "drizzle-orm/pg-core";
import type { Abi } from "viem";
import { expect, inject, test } from "vitest";
import { contractKeys } from "../../lib/deployments.ts";
import * as schema from "../../ponder.schema.ts";
import { FEEDS_VARIABLE } from "../../src/shared/price-feeds.ts";

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
  "PriceOracle:Initialized": "the token's price is read from the chain",
  "PriceOracle:OwnershipTransferred": "the token's price is read from the chain",
  "PriceOracle:Upgraded": "the token's price is read from the chain",
  "ProtocolToken:Approval": "no indexed read returns allowances",
  "FlashShield:Initialized": "shields and adapters are not indexed",
  "FlashShield:OwnershipTransferred": "shields and adapters are not indexed",
  "FlashShield:Upgraded": "shields and adapters are not indexed",
  "ShieldAdapter:Initialized": "shields and adapters are not indexed",
  "ShieldAdapter:OwnershipTransferred": "shields and adapters are not indexed",
  "ShieldAdapter:Upgraded": "shields and adapters are not indexed",
  "Proxy:Upgraded": "the same event as of the contract behind it, which is indexed",
  "MockUSDC:Approval": "USDC is not indexed",
  "MockUSDC:EIP712DomainChanged": "USDC is not indexed",
  "MockUSDC:Transfer": "USDC is not indexed: the events of premiums, sales and burns have their amounts",
  "MockAggregator:AnswerUpdated": "the same event as of PriceAggregator, which is indexed",
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

test("every contract with a projection is a source, with the address of the deployment file", async () => {
  const contracts = Object.fromEntries(
    contractKeys.map((key, index) => [key, `0x${(index + 1).toString(16).padStart(40, "0")}`]),
  );
  const [btc, eth, sequencer] = [contracts.btcUsdFeed, contracts.ethUsdFeed, contracts.sequencerFeed];
  const aggregators = [`0x${"a".repeat(40)}`, `0x${"b".repeat(40)}`];
  const [first, second] = aggregators;
  const feeds: unknown = {
    firstBlock: 3,
    prices: [
      { asset: "0x42", proxy: btc, phases: [{ phase: 1, aggregator: first, since: null }] },
      { asset: "0x45", proxy: eth, phases: [{ phase: 1, aggregator: second, since: 3 }] },
    ],
    sequencer: { aggregators: [sequencer], before: null },
  };
  const file = join(inject("runFolder"), "coverage-deployment.json");
  writeFileSync(file, JSON.stringify({ chainId: 8453, name: "Somewhere", startBlock: 7, contracts }));
  const environment = {
    DATABASE_URL: "postgres://localhost/unused",
    RPC_URL: "http://localhost:1",
    DEPLOYMENT_FILE: file,
    [FEEDS_VARIABLE]: JSON.stringify(feeds),
  };
  const before = { ...process.env };
  Object.assign(process.env, environment);
  try {
    const { default: config } = await import("../../ponder.config.ts");
    const names = [...projected].flatMap((event) => event?.split(":")[0] ?? []);
    expect([...new Set(names)].sort()).toEqual(
      [...Object.keys(config.contracts), ...Object.keys(config.blocks)].sort(),
    );
    const { PriceAggregator, PriceFeedProxy, SequencerFeed, ...others } = config.contracts;
    // The vault's payments are the token's logs too, by another filter.
    const { ReserveOutflow, ...addressed } = others;
    expect(ReserveOutflow).toMatchObject({ address: contracts.protocolToken, startBlock: 7 });
    const used = Object.values(addressed).map(({ address }) => address.toLowerCase());
    expect(new Set(used).size).toBe(used.length);
    for (const address of used) expect(Object.values(contracts)).toContain(address);
    for (const { startBlock } of Object.values(others)) expect(startBlock).toBe(7);
    // The first policies need the rounds before the start block.
    expect(PriceAggregator).toMatchObject({ address: aggregators, startBlock: 3 });
    expect(PriceFeedProxy).toMatchObject({ address: [btc, eth], startBlock: 3 });
    expect(SequencerFeed).toMatchObject({ address: [sequencer], startBlock: 3 });
    expect(config.chains.main).toMatchObject({ id: 8453, disableCache: false });
  } finally {
    process.env = before;
  }
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
