import { erc20Abi, formatUnits, getAddress } from "viem";
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { connect } from "../../lib/db/connect.ts";
import { assetBytes32, catalogue, productIdOf } from "../../lib/products.ts";
import { deactivateProduct, setProductActive } from "../../scripts/local/protocol/actions/index.ts";
import { retiredTerms } from "../../scripts/local/protocol/terms.ts";
import { atEnd } from "../support/cleanup.ts";
import { failure, startApi, type TestApi } from "./support/api.ts";

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});

const products = z.object({
  count: z.number(),
  products: z.array(
    z.looseObject({ productId: z.string(), name: z.string().nullable(), active: z.boolean() }),
  ),
});
const list = async () => products.parse((await api.request("/products")).json);
const health = z.object({ reasons: z.array(z.object({ code: z.string() })) });
const reasonsOf = (body: unknown) =>
  health
    .parse(body)
    .reasons.map((r) => r.code)
    .sort();
const idOf = productIdOf;
const quote = (productId: string, coverage: string) =>
  api.request(`/products/${productId}/quote?coverageAmount=${coverage}`);

describe("GET /products", () => {
  test("lists every product of the router; exactly the six of the catalogue are active", async () => {
    const { count, products } = await list();
    expect(count).toBe(7);
    expect(products.filter((p) => p.active).map((p) => p.name)).toEqual(catalogue.map((c) => c.name));
    const others = products.filter((p) => !catalogue.some((c) => c.productId === p.productId));
    expect(others).toMatchObject([
      { productId: retiredTerms.productId, name: null, coveredAsset: "BTC", triggerDropBps: null },
    ]);
  });

  test("returns a product's terms as the contracts have them", async () => {
    const shield = await api.chain.client.readContract({
      address: api.chain.deployment.contracts.policyManager,
      abi: [
        {
          type: "function",
          name: "productShield",
          stateMutability: "view",
          inputs: [{ type: "bytes32" }],
          outputs: [{ type: "address" }],
        },
      ],
      functionName: "productShield",
      args: [idOf("FLASHETH24-001")],
    });
    const answer = await api.request(`/products/${idOf("FLASHETH24-001")}`);
    expect(answer.json).toEqual({
      productId: idOf("FLASHETH24-001"),
      shield: getAddress(shield),
      payoutRatioBps: 8000,
      triggerProbBps: 286,
      marginBps: 20000,
      durationSeconds: 86400,
      active: true,
      name: "FLASHETH24-001",
      displayName: "ETH flash shield, 24 hours",
      coveredAsset: "ETH",
      paymentAsset: "USDC",
      coverageDescription:
        "Pays 80% of the coverage in bonds if ETH falls 8.5% or more from its price at purchase within 24 hours.",
      asset: assetBytes32("ETH"),
      triggerDropBps: 850,
      waitingSeconds: 0,
      legacy: false,
      paused: false,
    });
    const { products } = await list();
    expect(products.find((p) => p.name === "FLASHETH24-001")).toEqual(answer.json);
  });

  test("accepts a product id in any case", async () => {
    const id = idOf("FLASHBTC1H-001");
    const answer = await api.request(`/products/0x${id.slice(2).toUpperCase()}`);
    expect(answer.json).toMatchObject({ productId: id });
  });
});

describe("GET /products/{productId}/quote", () => {
  // The premiums of the specification's table per 1000 USD of coverage.
  test.each([
    ["FLASHBTC1H-001", "2920000"],
    ["FLASHBTC24-001", "52600000"],
    ["FLASHBTC48-001", "148670000"],
    ["FLASHETH1H-001", "1680000"],
    ["FLASHETH24-001", "45800000"],
    ["FLASHETH48-001", "123010000"],
  ])("%s costs %s for 1000 USD", async (name, premium) => {
    const answer = await quote(idOf(name), "1000000000");
    expect(answer.json).toMatchObject({
      productName: name,
      coverageAmount: "1000000000",
      premium,
      payout: "800000000",
      availableCapacity: "3500000000000",
    });
  });

  test("rounds the premium down, and ignores leading zeros of the coverage", async () => {
    expect((await quote(idOf("FLASHBTC1H-001"), "000100000001")).json).toMatchObject({
      coverageAmount: "100000001",
      premium: "292000",
    });
  });

  test.each([
    ["99999999", 422, "coverage_below_minimum"],
    ["0", 422, "coverage_below_minimum"],
    ["1000000000001", 422, "coverage_above_maximum"],
    [String(2n ** 256n - 1n), 422, "coverage_above_maximum"],
    [String(2n ** 256n), 400, "validation_error"],
    ["-100000000", 400, "validation_error"],
    ["1e9", 400, "validation_error"],
    ["100000000.5", 400, "validation_error"],
    ["", 400, "validation_error"],
    ["%F0%9F%92%A9", 400, "validation_error"],
  ])("a coverage of %s gets %i %s", async (coverage, status, code) => {
    expect(failure(await quote(idOf("FLASHBTC1H-001"), coverage))).toEqual([status, code]);
  });

  test("the router's largest coverage gets a quote", async () => {
    expect((await quote(idOf("FLASHBTC1H-001"), "1000000000000")).status).toBe(200);
  });

  test("a missing coverage gets 400", async () => {
    expect(failure(await api.request(`/products/${idOf("FLASHBTC1H-001")}/quote`))).toEqual([
      400,
      "validation_error",
    ]);
  });

  test("retired, inactive and unknown products get no quote", async () => {
    expect(failure(await quote(retiredTerms.productId, "100000000"))).toEqual([422, "shield_paused"]);
    const id = idOf("FLASHBTC48-001");
    for (const active of [false, true]) {
      await setProductActive(api.protocol, api.chain.owner, id, active);
      expect((await quote(id, "100000000")).status).toBe(active ? 200 : 422);
    }
    await deactivateProduct(api.protocol, api.chain.owner, id);
    expect(failure(await quote(id, "100000000"))).toEqual([422, "product_inactive"]);
    expect(failure(await quote(idOf("no such product"), "100000000"))).toEqual([404, "invalid_product"]);
  });
});

describe("GET /health", () => {
  test("names every contract and the chain, and lists the reasons for its degraded status", async () => {
    const answer = await api.request("/health");
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({
      status: "degraded",
      service: "parametric-cover-service",
      version: "0.1.0",
      release: "V5.4",
      chain: { chainId: 8453, name: "Test chain", rpcConnected: true },
      relayer: null,
      relayers: [],
      contracts: {
        ...api.chain.deployment.contracts,
        luminaToken: api.chain.deployment.contracts.protocolToken,
      },
    });
    // Right after the start the database may not be migrated yet, which adds another reason.
    await expect
      .poll(async () => reasonsOf((await api.request("/health")).json))
      .toEqual(["indexer_unavailable", "relayer_unavailable"]);
  });

  test("names a wallet with open transactions that no writer sends from, beside one that a writer has", async () => {
    const { sql, close } = connect(api.stack.databaseUrl, { name: "test", max: 1 });
    atEnd(close);
    const [held, abandoned] = [`0x${"aa".repeat(20)}`, `0x${"ab".repeat(20)}`];
    await sql`
      insert into service.relayer_wallet (chain_id, address, next_nonce, lease_owner, heartbeat_at, lease_until)
      values (8453, ${held}, 1, 'a writer', 'infinity', 'infinity'), (8453, ${abandoned}, 1, null, null, '-infinity')`;
    for (const wallet of [held, abandoned]) {
      await sql`
        insert into service.transaction (chain_id, wallet, nonce, kind, "to", data, gas_limit)
        values (8453, ${wallet}, 0, 'filler', ${wallet}, '0x', 21000)`;
    }
    await expect
      .poll(async () => (await api.request("/health")).json)
      .toMatchObject({
        reasons: expect.arrayContaining([
          {
            code: "wallets_abandoned",
            message: `No writer sends from ${getAddress(abandoned ?? "")}: the open transactions of these wallets wait.`,
          },
        ]),
      });
    await sql`delete from service.transaction`;
    await sql`delete from service.relayer_wallet`;
  });
});

test("GET /health names the keeper, and says why it sends nothing", async () => {
  const { sql, close } = connect(api.stack.databaseUrl, { name: "test", max: 1 });
  atEnd(close);
  const wallet = `0x${"ac".repeat(20)}`;
  await sql`
    insert into service.relayer_wallet (chain_id, address, role, lease_owner, heartbeat_at, lease_until)
    values (8453, ${wallet}, 'keeper', 'a writer', 'infinity', 'infinity')`;
  const health = async () => (await api.request("/health")).json;
  await expect.poll(health).toMatchObject({ keeper: { address: getAddress(wallet), balanceWei: "0" } });
  expect(reasonsOf(await health())).not.toContain("keeper_unavailable");
  const reason = (why: string) => ({
    reasons: expect.arrayContaining([
      {
        code: "keeper_unavailable",
        message: `The keeper triggers no policies now: ${why}`,
      },
    ]),
  });
  await sql`update service.relayer_wallet set fault = 'It has no ether.'`;
  await expect.poll(health).toMatchObject(reason("It has no ether."));
  await sql`insert into service.stop (scope, subject, reason) values ('keeper', '', 'test')`;
  await expect.poll(health).toMatchObject(reason("the operator has stopped it."));
  await sql`delete from service.stop`;
  await sql`update service.relayer_wallet set lease_owner = null, heartbeat_at = now()`;
  await expect.poll(health).toMatchObject({ keeper: null, ...reason("no writer sends from its wallet.") });
  await sql`delete from service.relayer_wallet`;
});

describe("GET /api/v1/live-stats", () => {
  const liveStats = z.looseObject({
    tokenPrice: z.looseObject({ price: z.string(), usd: z.number() }),
    bondReserve: z.looseObject({ amount: z.string() }),
    capacity: z.looseObject({ committed: z.string(), available: z.string() }),
    totalSupply: z.looseObject({ amount: z.string() }),
    chainStatus: z.looseObject({ blockNumber: z.number() }),
  });

  test("has price, reserve, capacity and supply as the contracts have them at its block, under both names", async () => {
    const answer = await api.request("/api/v1/live-stats");
    const stats = liveStats.parse(answer.json);
    const { client, deployment } = api.chain;
    const { bondVault, protocolToken } = deployment.contracts;
    const at = { blockNumber: BigInt(stats.chainStatus.blockNumber) };
    const vault = { address: bondVault, abi: bondVaultAbi, ...at } as const;
    const token = { address: protocolToken, abi: erc20Abi, ...at } as const;
    const reserve = await client.readContract({ ...token, functionName: "balanceOf", args: [bondVault] });
    const supply = await client.readContract({ ...token, functionName: "totalSupply" });
    const [, , , dollars, price] = await client.readContract({ ...vault, functionName: "getStatus" });
    const available = dollars * 1_000_000n;
    const owed = await Promise.all(
      (["totalReservedUSD", "totalCommittedUSD", "totalQueuedUSD"] as const).map((functionName) =>
        client.readContract({ ...vault, functionName }),
      ),
    );
    const committed = owed.reduce((sum, one) => sum + one, 0n) / 10n ** 12n;
    // The vault's capacity follows from the price: it may owe half of the reserve's value.
    expect((reserve * price) / (2n * 10n ** 30n)).toBe(committed + available);
    const { timestamp } = await client.getBlock(at);
    expect(stats).toMatchObject({
      tokenPrice: {
        ...{ usd: Number(formatUnits(price, 18)), price: String(price) },
        ...{ updatedAt: String(timestamp), source: "priceOracle" },
      },
      bondReserve: {
        ...{ amount: String(reserve), source: "bondVault" },
        ...{ token: `${reserve / 10n ** 18n}.00`, lumina: `${reserve / 10n ** 18n}.00` },
        usd: `${(reserve * price) / 10n ** 36n}.00`,
      },
      capacity: {
        ...{ committed: String(committed), available: String(available), source: "bondVault" },
        ...{ committedUSD: String(committed / 1_000_000n), availableUSD: String(available / 1_000_000n) },
        usedPercent: expect.stringMatching(/^\d+\.\d\d%$/),
      },
      totalSupply: { amount: String(supply), token: "100,000,000", lumina: "100,000,000" },
      chainStatus: { chainId: 8453, name: "Test chain" },
      lastUpdated: expect.stringMatching(/^\d{4}-.*Z$/),
      stale: false,
    });
    expect(stats.luminaPrice).toEqual(stats.tokenPrice);
    // Half a minute long the same figures are sent.
    await api.chain.client.mine({ blocks: 1 });
    expect((await api.request("/api/v1/live-stats")).json).toEqual(answer.json);
  });
});

describe("indexed reads without an indexer", () => {
  test.each([
    "/api/v1/marketplace/listings",
    "/api/v1/marketplace/listings/0",
    "/api/v1/marketplace/stats",
    "/api/v1/marketplace/history",
    "/api/v1/indexer/health",
    "/api/v1/stats/activity",
    `/api/v1/policies/by-buyer/0x${"1".repeat(40)}`,
  ])("%s gets 503 with Retry-After", async (path) => {
    const answer = await api.request(path);
    expect(failure(answer)).toEqual([503, "indexer_unavailable"]);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  });
});
