/**
 * What this proves: bonds of a wallet and the marketplace's resources have the fields that existing clients read, with the
 * values of the contracts, and follow a reorganisation.
 */
import type { Address } from "viem";
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { claimBondAbi } from "../../abis/ClaimBond.ts";
import { isoTime } from "../../api/http/field-types.ts";
import {
  buyListing,
  chainTime,
  listBond,
  maturityDate,
  refreshFeeds,
} from "../../scripts/local/protocol/actions/index.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { buyers, chapters, historyContext, trade } from "../src/support/history.ts";
import { timeTravel } from "../support/protocol-actions.ts";
import { askRpc } from "../support/rpc-proxy.ts";
import { failure, invalidFields, issueKey, startApi, type TestApi } from "./support/api.ts";

const [, bob, carol] = buyers;
if (!bob || !carol) throw new Error("the history has too few buyers");

const DOLLAR = 1_000_000n;
const DAY = 86_400n;
const NOBODY = "0x000000000000000000000000000000000000dEaD";

let api: TestApi;
/** A key of a wallet that has no bonds. */
let headers: Record<string, string>;
beforeAll(async () => {
  api = await startApi({ services: ["api", "indexer"], chainOptions: { retired: false } });
  const context = historyContext(api.chain);
  for (const chapter of chapters) await chapter.play(context);
  await trade(context);
  const epochId = await openEpoch(carol.address);
  for (const [amount, dollars] of [
    [100n, 100n],
    [10n, 35n],
    [200n, 210n],
  ] as const)
    await listBond(api.protocol, carol, epochId, amount, dollars * DOLLAR);
  ({ headers } = await issueKey(api.request));
});

/** Waits until responses are of the chain's newest block. */
async function waitForIndex(): Promise<void> {
  const { hash } = await api.chain.client.getBlock();
  await waitFor({
    what: "the index to reach the chain's head",
    probe: async () => {
      const answer = await api.request("/api/v1/stats/protocol");
      return answer.headers.get("etag")?.startsWith(`"${hash.slice(2, 18)}-`) || undefined;
    },
  });
}

/** The latest epoch in which a wallet holds bonds. */
async function openEpoch(owner: Address): Promise<bigint> {
  await waitForIndex();
  const list = z.object({ bonds: z.array(z.object({ epochId: z.string() })) });
  const { bonds } = list.parse((await api.request(`/api/v1/bonds/by-owner/${owner}`)).json);
  return BigInt(bonds.at(-1)?.epochId ?? 0);
}

describe("GET /api/v1/bonds/{wallet}", () => {
  const bond = z.looseObject({
    epochId: z.string(),
    balance: z.string(),
    redeemedAmount: z.string(),
    isMatured: z.boolean(),
    isRedeemed: z.boolean(),
    tokenEquivalent: z.string().nullable(),
  });
  const list = z.object({
    totalBonds: z.number(),
    tokenPrice: z.string().nullable(),
    bonds: z.array(bond),
    pagination: z.object({ limit: z.number(), offset: z.number(), hasMore: z.boolean() }),
  });
  const bondsOf = async (wallet: string, query = "") =>
    list.parse((await api.request(`/api/v1/bonds/${wallet}${query}`, { headers })).json);

  test("has both families of fields, with the balances, maturities and worth of the contracts", async () => {
    await refreshFeeds(api.protocol, api.chain.owner);
    await waitForIndex();
    const { claimBond, bondVault } = api.chain.deployment.contracts;
    const { client } = api.chain;
    const now = await chainTime(api.protocol);
    for (const { address } of [bob, carol]) {
      const { bonds, tokenPrice } = await bondsOf(address);
      expect(bonds.length, address).toBeGreaterThan(0);
      for (const shown of bonds) {
        const epochId = BigInt(shown.epochId);
        const balance = await client.readContract({
          address: claimBond,
          abi: claimBondAbi,
          functionName: "balanceOf",
          args: [address, epochId],
        });
        const [tokens, price] = await client.readContract({
          address: bondVault,
          abi: bondVaultAbi,
          functionName: "previewRedemption",
          args: [balance],
        });
        const maturity = await maturityDate(api.protocol, epochId);
        expect(tokenPrice).toBe(String(price));
        expect(shown).toEqual({
          bondId: shown.epochId,
          epochId: shown.epochId,
          owner: address,
          balance: String(balance),
          amount: String(balance),
          redeemedAmount: shown.redeemedAmount,
          faceValue: `${balance * 10n ** 18n}`,
          faceValueUsdc: String(balance * DOLLAR),
          createdAt: isoTime(maturity - 730n * DAY),
          maturityDate: isoTime(maturity),
          isMatured: now >= maturity,
          matured: now >= maturity,
          isRedeemed: balance === 0n,
          tokenEquivalent: String(tokens),
          luminaEquivalent: String(tokens),
        });
      }
    }
  });

  test("status selects held, matured and redeemed bonds; pages go from the latest epoch back", async () => {
    await waitForIndex();
    const all = (await bondsOf(carol.address)).bonds;
    const epochs = all.map(({ epochId }) => Number(epochId));
    expect(epochs).toEqual(epochs.toSorted((a, b) => b - a));
    expect(epochs.length).toBeGreaterThan(1);
    const redeemed = (await bondsOf(carol.address, "?status=redeemed")).bonds;
    expect(redeemed.map(({ redeemedAmount }) => redeemedAmount)).toEqual(["1040"]);
    const held = all.filter(({ balance }) => balance !== "0");
    const active = (await bondsOf(carol.address, "?status=active")).bonds;
    const matured = (await bondsOf(carol.address, "?status=matured")).bonds;
    expect(active).toEqual(held.filter(({ isMatured }) => !isMatured));
    expect(matured).toEqual(held.filter(({ isMatured }) => isMatured));
    expect([active.length, matured.length]).not.toContain(0);
    const second = await bondsOf(carol.address, "?limit=1&offset=1");
    expect(second).toMatchObject({
      totalBonds: all.length,
      bonds: [all[1]],
      pagination: { limit: 1, offset: 1, hasMore: all.length > 2 },
    });
    expect((await bondsOf(carol.address)).pagination).toEqual({ limit: 100, offset: 0, hasMore: false });
    expect(await bondsOf(NOBODY)).toMatchObject({ totalBonds: 0, bonds: [] });
  });

  test("needs a key, is not stored, names its block, and takes 500 bonds at most", async () => {
    const path = `/api/v1/bonds/${carol.address}`;
    expect(failure(await api.request(path))).toEqual([401, "unauthenticated"]);
    const answer = await api.request(`${path.toLowerCase()}?limit=500`, { headers });
    expect([answer.status, answer.headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(answer.headers.get("x-indexed-block")).toMatch(/^\d+$/);
    expect(answer.json).toMatchObject({ wallet: carol.address });
    for (const [query, field] of [
      ["status=sold", "status"],
      ["limit=501", "limit"],
      ["limit=0", "limit"],
      ["offset=-1", "offset"],
    ]) {
      const refused = await api.request(`${path}?${query}`, { headers });
      expect([failure(refused), invalidFields(refused)]).toEqual([[400, "validation_error"], [field]]);
    }
    expect(invalidFields(await api.request("/api/v1/bonds/by-owner", { headers }))).toEqual(["wallet"]);
  });
});

const listing = z.looseObject({
  listingId: z.string(),
  sellerAddress: z.string(),
  amount: z.string(),
  totalPriceUsdc: z.string(),
  status: z.string(),
});
const search = z.object({ count: z.number(), total: z.number(), listings: z.array(listing) });
const found = async (query: string) =>
  search.parse((await api.request(`/api/v1/marketplace/listings?${query}`)).json);
type Listing = z.output<typeof listing>;
const priceOf = ({ totalPriceUsdc }: Listing) => BigInt(totalPriceUsdc);
const faceOf = ({ amount }: Listing) => BigInt(amount) * DOLLAR;
const idsOf = (listings: readonly Listing[]) => listings.map(({ listingId }) => Number(listingId));
const order = (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0);

describe("GET /api/v1/marketplace/listings", () => {
  const feed = z.object({
    listings: z.array(listing.extend({ pricePerUnit: z.string(), createdAt: z.string() })),
  });
  /** The active listings, the newest first. */
  const active = async () =>
    feed.parse((await api.request("/api/v1/marketplace/active-listings?limit=100")).json).listings;

  test("lists the active listings by price or time, with both names of each field", async () => {
    await waitForIndex();
    const newest = await active();
    expect(newest.length).toBeGreaterThan(3);
    const byPrice = newest.toSorted(
      (a, b) => order(priceOf(a), priceOf(b)) || Number(a.listingId) - Number(b.listingId),
    );
    expect(idsOf((await found("")).listings)).toEqual(idsOf(byPrice));
    expect(idsOf((await found("sortBy=price-desc")).listings)).toEqual(idsOf(byPrice.toReversed()));
    for (const sortBy of ["createdAt-desc", "listedAt-desc"]) {
      const { listings, count, total } = await found(`sortBy=${sortBy}`);
      expect([count, total]).toEqual([newest.length, newest.length]);
      expect(listings).toEqual(
        newest.map(({ createdAt, ...known }) =>
          expect.objectContaining({
            ...known,
            seller: known.sellerAddress,
            priceUsdc: known.totalPriceUsdc,
            maturityDate: expect.any(String),
            listedAt: createdAt,
            createdAt: isoTime(BigInt(createdAt)),
            discountBps: 0,
            ...{ buyer: null, closedAt: null, closedTxHash: null },
          }),
        ),
      );
    }
  });

  test("filters return exactly the matching listings and their number, alone and combined", async () => {
    await waitForIndex();
    const all = await active();
    const prices = all.map(priceOf).toSorted(order);
    const middle = prices[Math.floor(prices.length / 2)] ?? 0n;
    const is = {
      maxPriceUsdc: (one: Listing) => priceOf(one) <= middle,
      minDiscountBps: (one: Listing) => priceOf(one) <= faceOf(one),
      seller: (one: Listing) => one.sellerAddress === carol.address,
    };
    const values = { maxPriceUsdc: middle, minDiscountBps: 0, seller: carol.address.toLowerCase() };
    for (const names of [
      ["maxPriceUsdc"],
      ["minDiscountBps"],
      ["seller"],
      ["maxPriceUsdc", "seller"],
      ["maxPriceUsdc", "minDiscountBps", "seller"],
    ] as const) {
      const query = names.map((name) => `${name}=${values[name]}`).join("&");
      const expected = all.filter((one) => names.every((name) => is[name](one)));
      expect([0, all.length], query).not.toContain(expected.length);
      for (const sortBy of ["price-asc", "price-desc", "listedAt-desc"]) {
        const { listings, total } = await found(`${query}&sortBy=${sortBy}`);
        expect(idsOf(listings).toSorted((a, b) => a - b)).toEqual(idsOf(expected).toSorted((a, b) => a - b));
        expect(total).toBe(expected.length);
        const paged = await found(`${query}&sortBy=${sortBy}&limit=1&offset=${expected.length - 1}`);
        expect(paged).toMatchObject({ count: 1, total, listings: listings.slice(-1) });
      }
    }
    expect(await found(`seller=${NOBODY}`)).toEqual({ count: 0, total: 0, listings: [] });
    expect((await found("minDiscountBps=1")).total).toBe(0);
  });

  test.each([
    ["sortBy", "price"],
    ["maxPriceUsdc", "-1"],
    ["maxPriceUsdc", "1.5"],
    ["minDiscountBps", "10001"],
    ["minDiscountBps", "x"],
    ["seller", "0x12"],
    ["limit", "201"],
    ["offset", "10001"],
  ])("%s=%s gets 400 with the parameter's name", async (name, value) => {
    const answer = await api.request(`/api/v1/marketplace/listings?${name}=${value}`);
    expect([failure(answer), invalidFields(answer)]).toEqual([[400, "validation_error"], [name]]);
  });
});

describe("GET /api/v1/marketplace/listings/{listingId}", () => {
  const one = (id: unknown) => api.request(`/api/v1/marketplace/listings/${id}`);

  test("finds listings in every status by their id; an unknown id, 0 too, gets 404", async () => {
    await waitForIndex();
    const { listings } = await found("sortBy=listedAt-desc");
    const statuses = new Map<string, number>();
    for (let id = 1; id <= Math.max(...idsOf(listings)); id += 1) {
      const shown = listing.parse((await one(id)).json);
      const isOpen = listings.find(({ listingId }) => listingId === String(id));
      if (isOpen) expect(shown).toEqual(isOpen);
      statuses.set(shown.status, (statuses.get(shown.status) ?? 0) + 1);
      const isSold = shown.status === "executed";
      expect(shown).toMatchObject({
        buyer: isSold ? expect.stringMatching(/^0x/) : null,
        closedAt: isOpen ? null : expect.any(String),
        closedTxHash: isOpen ? null : expect.stringMatching(/^0x/),
      });
    }
    expect([...statuses.keys()].sort()).toEqual(["active", "cancelled", "executed"]);
    expect(statuses.get("active")).toBe(listings.length);
    for (const id of ["0", "999999", String(2n ** 256n - 1n)]) {
      expect(failure(await one(id)), id).toEqual([404, "listing_not_found"]);
    }
    for (const id of ["x", "-1", "1.0", String(2n ** 256n)]) {
      expect(failure(await one(id)), id).toEqual([400, "validation_error"]);
    }
  });

  test("a sale that a reorganisation takes back leaves the listing active", async () => {
    const { protocol, chain } = api;
    const id = await listBond(protocol, carol, await openEpoch(carol.address), 5n, 6n * DOLLAR);
    await buyListing(protocol, bob, id);
    await waitForIndex();
    expect((await one(id)).json).toMatchObject({ status: "executed", buyer: bob.address });
    expect(await askRpc(chain.url, "anvil_reorg", [1, []])).toEqual({ result: null });
    await chain.client.mine({ blocks: 1 });
    await waitForIndex();
    expect((await one(id)).json).toMatchObject({ status: "active", buyer: null, closedAt: null });
    expect(idsOf((await found(`maxPriceUsdc=${6n * DOLLAR}`)).listings)).toContain(Number(id));
  });
});

test("GET /api/v1/marketplace/history and /stats agree with the sales and the active listings", async () => {
  const { protocol, chain } = api;
  const epochId = await openEpoch(carol.address);
  await timeTravel(protocol, 2n * DAY);
  await refreshFeeds(protocol, chain.owner);
  await buyListing(protocol, bob, await listBond(protocol, carol, epochId, 7n, 8n * DOLLAR));
  await waitForIndex();
  const sale = z.looseObject({
    totalPriceUsdc: z.string(),
    sellerFeeUsdc: z.string(),
    buyerFeeUsdc: z.string(),
    soldAt: z.string(),
  });
  const { sales } = z
    .object({ sales: z.array(sale) })
    .parse((await api.request("/api/v1/marketplace/recent-sales?limit=100")).json);
  const history = await api.request("/api/v1/marketplace/history?limit=100");
  const trades = sales.map(
    ({ totalPriceUsdc, buyerFeeUsdc, soldAt, sellerFeeUsdc: _, listedAt: _listed, ...same }) => ({
      ...same,
      buyerAddress: same.buyer,
      sellerAddress: same.seller,
      priceUsdc: totalPriceUsdc,
      totalPaidUsdc: String(BigInt(totalPriceUsdc) + BigInt(buyerFeeUsdc)),
      timestamp: soldAt,
      executedAt: isoTime(BigInt(soldAt)),
    }),
  );
  expect(history.json).toEqual({ count: sales.length, limit: 100, offset: 0, nextCursor: null, trades });
  const pages = z.object({ nextCursor: z.string(), trades: z.array(z.unknown()) });
  const first = pages.parse((await api.request("/api/v1/marketplace/history?limit=1")).json);
  const next = await api.request(`/api/v1/marketplace/history?limit=1&cursor=${first.nextCursor}`);
  expect([...first.trades, ...pages.parse(next.json).trades]).toEqual(trades.slice(0, 2));

  const { listings } = await found("limit=200");
  const now = await chainTime(protocol);
  const lowest = (values: readonly bigint[]) => String(values.toSorted(order)[0]);
  const volume = (some: typeof sales) =>
    String(some.reduce((sum, { totalPriceUsdc }) => sum + BigInt(totalPriceUsdc), 0n));
  const fees = sales.reduce((sum, one) => sum + BigInt(one.sellerFeeUsdc) + BigInt(one.buyerFeeUsdc), 0n);
  const today = sales.filter(({ soldAt }) => BigInt(soldAt) > now - DAY);
  expect(today).toHaveLength(1);
  expect((await api.request("/api/v1/marketplace/stats")).json).toEqual({
    floor: lowest(listings.map(priceOf)),
    floorPerUnit: lowest(listings.map((one) => priceOf(one) / BigInt(one.amount))),
    volume24h: volume(today),
    sales24h: 1,
    totalListings: listings.length,
    totalVolume: volume(sales),
    totalSales: sales.length,
    totalFees: String(fees),
  });
});

describe("without the vault's price", () => {
  const worth = z.object({
    tokenPrice: z.string().nullable(),
    bonds: z.array(z.object({ balance: z.string(), tokenEquivalent: z.string().nullable() })),
  });
  const read = async () => {
    const answer = await api.request(`/api/v1/bonds/${bob.address}`, { headers });
    return [answer.status, worth.parse(answer.json)] as const;
  };

  test("a stale feed and a node that is away leave the bonds without their worth, and the bonds stay", async () => {
    await refreshFeeds(api.protocol, api.chain.owner);
    await expect.poll(async () => (await read())[1].tokenPrice).not.toBeNull();
    const [, known] = await read();
    const withoutWorth = {
      tokenPrice: null,
      bonds: known.bonds.map((bond) => ({ ...bond, tokenEquivalent: null })),
    };
    await timeTravel(api.protocol, 2n * 3600n);
    await expect.poll(read).toEqual([200, withoutWorth]);
    await api.chain.stop();
    expect(await read()).toEqual([200, withoutWorth]);
  });
});
