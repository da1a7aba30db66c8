/** A wallet's bonds with their worth, compared with the contracts. */
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { bondMarketplaceAbi } from "../../../abis/BondMarketplace.ts";
import { bondVaultAbi } from "../../../abis/BondVault.ts";
import { claimBondAbi } from "../../../abis/ClaimBond.ts";
import { isoTime } from "../../../api/http/field-types.ts";
import {
  cancelListing,
  chainTime,
  maturityDate,
  redeem,
  refreshFeeds,
  setPriceStale,
  setTokenPrice,
} from "../../../scripts/local/protocol/actions/index.ts";
import { waitFor } from "../../../scripts/local/wait.ts";
import { timeTravel } from "../../support/protocol-actions.ts";
import { failure, invalidFields, issueKey } from "./api.ts";
import { bob, carol, DAY, DOLLAR, type MarketApi, NOBODY } from "./market-history.ts";

/** The last test stops the chain. */
export function walletBonds(api: () => MarketApi): void {
  /** A key of a wallet that has no bonds. */
  let headers: Record<string, string>;
  beforeAll(async () => {
    ({ headers } = await issueKey(api().request));
  });

  describe("GET /api/v1/bonds/{wallet}", () => {
    const bond = z.looseObject({
      epochId: z.string(),
      balance: z.string(),
      redeemedAmount: z.string(),
      queuedAmount: z.string(),
      isMatured: z.boolean(),
      isRedeemed: z.boolean(),
      tokenEquivalent: z.string().nullable(),
    });
    const list = z.object({
      totalBonds: z.number(),
      tokenPrice: z.string().nullable(),
      withdrawableUsdc: z.string(),
      bonds: z.array(bond),
      pagination: z.object({ limit: z.number(), offset: z.number(), hasMore: z.boolean() }),
    });
    const openListings = z.object({ listings: z.array(z.object({ listingId: z.string() })) });
    /** With the token's price, which a busy node may give too late. */
    const bondsOf = (wallet: string, query = "") =>
      waitFor({
        what: "a list with the token's price",
        probe: async () => {
          const { json } = await api().request(`/api/v1/bonds/${wallet}${query}`, { headers });
          const found = list.parse(json);
          return found.tokenPrice === null ? undefined : found;
        },
      });

    test("has both families of fields, with the balances, maturities and worth of the contracts", async () => {
      await refreshFeeds(api().protocol, api().chain.owner);
      await api().waitForIndex();
      const { claimBond, bondVault, marketplace } = api().chain.deployment.contracts;
      const { client } = api().chain;
      const now = await chainTime(api().protocol);
      for (const { address } of [bob, carol]) {
        const { bonds, tokenPrice, withdrawableUsdc } = await bondsOf(address);
        const credit = await client.readContract({
          address: marketplace,
          abi: bondMarketplaceAbi,
          functionName: "pendingWithdrawals",
          args: [address],
        });
        expect(credit > 0n, address).toBe(true);
        expect(withdrawableUsdc).toBe(String(credit));
        const lists = [`/api/v1/bonds/by-owner/${address}`, `/api/v1/public/bonds/${address}`];
        for (const path of lists)
          expect((await api().request(path)).json).toMatchObject({ withdrawableUsdc: String(credit) });
        expect(bonds.length, address).toBeGreaterThan(0);
        for (const shown of bonds) {
          const epochId = BigInt(shown.epochId);
          const balance = await client.readContract({
            address: claimBond,
            abi: claimBondAbi,
            functionName: "balanceOf",
            args: [address, epochId],
          });
          const vault = { address: bondVault, abi: bondVaultAbi } as const;
          const tokens = await client.readContract({
            ...vault,
            functionName: "previewRedemption",
            args: [balance],
          });
          const [, , , , price] = await client.readContract({ ...vault, functionName: "getStatus" });
          const maturity = await maturityDate(api().protocol, epochId);
          expect(tokenPrice).toBe(String(price));
          expect(shown).toEqual({
            bondId: shown.epochId,
            epochId: shown.epochId,
            owner: address,
            balance: String(balance),
            amount: String(balance),
            redeemedAmount: shown.redeemedAmount,
            queuedAmount: shown.queuedAmount,
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
      await api().waitForIndex();
      const all = (await bondsOf(carol.address)).bonds;
      const epochs = all.map(({ epochId }) => Number(epochId));
      expect(epochs).toEqual(epochs.toSorted((a, b) => b - a));
      expect(epochs.length).toBeGreaterThan(1);
      const redeemed = (await bondsOf(carol.address, "?status=redeemed")).bonds;
      // At once and from the queue; 500 are stranded in it, and 15 wait.
      expect(redeemed.map(({ redeemedAmount, queuedAmount }) => [redeemedAmount, queuedAmount])).toEqual([
        ["1330", "515"],
      ]);
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

    test("bonds in the redemption queue are shown apart from the held and the redeemed ones", async () => {
      const { protocol, chain } = api();
      await refreshFeeds(protocol, chain.owner);
      await api().waitForIndex();
      const [before] = (await bondsOf(carol.address, "?status=matured")).bonds;
      if (!before) throw new Error("carol has no matured bonds");
      // The history has redeemed so much this week that the cap is reached at this price.
      await setTokenPrice(protocol, chain.owner, "0.0115");
      expect((await redeem(protocol, carol, BigInt(before.epochId), 20n)).state).toBe("queued");
      await setTokenPrice(protocol, chain.owner, "0.12");
      await api().waitForIndex();
      const { bonds } = await bondsOf(carol.address);
      expect(bonds.find(({ epochId }) => epochId === before.epochId)).toMatchObject({
        balance: String(BigInt(before.balance) - 20n),
        queuedAmount: String(BigInt(before.queuedAmount) + 20n),
        ...{ redeemedAmount: before.redeemedAmount, isRedeemed: false },
      });
    });

    test("bonds are not all redeemed while some are in escrow for a listing, which may be cancelled", async () => {
      const epochId = await api().openEpoch(carol.address); // with open listings
      const maturity = await maturityDate(api().protocol, epochId);
      await timeTravel(api().protocol, maturity - (await chainTime(api().protocol)) + DAY);
      await refreshFeeds(api().protocol, api().chain.owner);
      const ofEpoch = async () => {
        await api().waitForIndex();
        return (await bondsOf(carol.address)).bonds.find((one) => one.epochId === String(epochId));
      };
      const held = BigInt((await ofEpoch())?.balance ?? 0);
      expect((await redeem(api().protocol, carol, epochId, held)).state).toBe("paid");
      expect(await ofEpoch()).toMatchObject({
        balance: "0",
        redeemedAmount: String(held),
        isRedeemed: false,
      });
      const { listings } = openListings.parse(
        (await api().request(`/api/v1/marketplace/listings?seller=${carol.address}`)).json,
      );
      for (const { listingId } of listings) await cancelListing(api().protocol, carol, BigInt(listingId));
      const returned = BigInt((await ofEpoch())?.balance ?? 0);
      expect(returned).toBeGreaterThan(0n);
      expect((await redeem(api().protocol, carol, epochId, returned)).state).toBe("paid");
      expect(await ofEpoch()).toMatchObject({ balance: "0", isRedeemed: true });
    });

    test("needs a key, is not stored, names its block, and takes 500 bonds at most", async () => {
      const path = `/api/v1/bonds/${carol.address}`;
      expect(failure(await api().request(path))).toEqual([401, "unauthenticated"]);
      const answer = await api().request(`${path.toLowerCase()}?limit=500`, { headers });
      expect([answer.status, answer.headers.get("cache-control")]).toEqual([200, "no-store"]);
      expect(answer.headers.get("x-indexed-block")).toMatch(/^\d+$/);
      expect(answer.json).toMatchObject({ wallet: carol.address });
      for (const [query, field] of [
        ["status=sold", "status"],
        ["limit=501", "limit"],
        ["limit=0", "limit"],
        ["offset=-1", "offset"],
      ]) {
        const refused = await api().request(`${path}?${query}`, { headers });
        expect([failure(refused), invalidFields(refused)]).toEqual([[400, "validation_error"], [field]]);
      }
      expect(invalidFields(await api().request("/api/v1/bonds/by-owner", { headers }))).toEqual(["wallet"]);
    });
  });

  describe("without the vault's price", () => {
    const worth = z.object({
      tokenPrice: z.string().nullable(),
      bonds: z.array(z.object({ balance: z.string(), tokenEquivalent: z.string().nullable() })),
    });
    const read = async () => {
      const answer = await api().request(`/api/v1/bonds/${bob.address}`, { headers });
      return [answer.status, worth.parse(answer.json)] as const;
    };

    test("at the lowest price of a redemption nothing is promised, because V5.4 redeems nothing there; above it is", async () => {
      const { protocol, chain } = api();
      await refreshFeeds(protocol, chain.owner);
      const tokenPrice = async () => (await read())[1].tokenPrice;
      await setTokenPrice(protocol, chain.owner, "0.001");
      await expect.poll(tokenPrice, { timeout: 5_000 }).toBeNull();
      await setTokenPrice(protocol, chain.owner, "0.00100001");
      await expect.poll(tokenPrice, { timeout: 5_000 }).toBe("1000010000000000");
      await setTokenPrice(protocol, chain.owner, "0.12");
    });

    test("a failing price oracle and a node that is away leave the bonds without their worth, and the bonds stay", async () => {
      await refreshFeeds(api().protocol, api().chain.owner);
      await expect.poll(async () => (await read())[1].tokenPrice).not.toBeNull();
      const [, known] = await read();
      const withoutWorth = {
        tokenPrice: null,
        bonds: known.bonds.map((bond) => ({ ...bond, tokenEquivalent: null })),
      };
      await setPriceStale(api().protocol, api().chain.owner, true);
      await expect.poll(read).toEqual([200, withoutWorth]);
      await api().chain.stop();
      expect(await read()).toEqual([200, withoutWorth]);
    });
  });
}
