/** Reports that are refused: each cause has its own code, and nothing is recorded. */
import { encodeFunctionData, type Hex } from "viem";
import { describe, expect, test } from "vitest";
import { coverRouterAbi } from "../../../abis/CoverRouter.ts";
import { termsOf } from "../../../scripts/local/protocol/terms.ts";
import { usdc } from "../../support/ledger.ts";
import * as act from "../../support/protocol-actions.ts";
import { failure, invalidFields, messageOf, newWallet } from "./api.ts";
import { alice, bob, type Call, owner, type paths, type ReportSetup, sendCall } from "./reports.ts";

export function refusedReports(setup: () => ReportSetup): void {
  const send = (account: typeof alice, call: Call) => sendCall(setup().protocol, account, call);
  const redeemed = (amount: bigint) => send(alice, setup().calls.redeem(setup().matured, amount));
  const listed = (amount: bigint, price: bigint) =>
    send(bob, setup().calls.list(setup().fresh, amount, price));

  describe("a report that is not what the transaction did", () => {
    test.each<[string, object, number, string]>([
      ["another bond", { epochId: "202001" }, 422, "epoch_mismatch"],
      ["another amount", { usdAmount: "104" }, 422, "amount_mismatch"],
    ])("a redemption of %s is refused, and 409 once it is recorded", async (_, change, ...expected) => {
      const hash = await redeemed(103n);
      const wrong = { ...setup().bodies.redemption(hash, 103n), ...change };
      expect(failure(await setup().report("redeem", alice.address, wrong))).toEqual(expected);
      expect(
        (await setup().report("redeem", alice.address, setup().bodies.redemption(hash, 103n))).status,
      ).toBe(200);
      expect(failure(await setup().report("redeem", alice.address, wrong))).toEqual([
        409,
        "duplicate_redemption",
      ]);
    });

    test.each<[string, object, number, string]>([
      ["another bond", { bondId: "202001" }, 422, "epoch_mismatch"],
      ["another amount", { amount: "6" }, 422, "amount_mismatch"],
      ["another price", { totalPriceUsdc: "6000001" }, 422, "price_mismatch"],
    ])("a listing of %s is refused, and 409 once it is recorded", async (_, change, ...expected) => {
      const hash = await listed(5n, usdc(6));
      const right = setup().bodies.listing(hash, 5n, usdc(6));
      expect(failure(await setup().report("list", bob.address, { ...right, ...change }))).toEqual(expected);
      expect((await setup().report("list", bob.address, right)).status).toBe(200);
      const again = await setup().report("list", bob.address, { ...right, ...change });
      expect(failure(again)).toEqual([409, "duplicate_listing"]);
    });

    test("a purchase of another listing, amount or price is refused, and 409 once it is recorded", async () => {
      const right = setup().bodies.purchase(await send(bob, setup().calls.buy(2n)), 2n);
      const changes = {
        listing_id_mismatch: { listingId: "3" },
        amount_mismatch: { amount: "999" },
        price_mismatch: { totalPaidUsdc: "1100000000" },
      };
      for (const [code, change] of Object.entries(changes))
        expect(failure(await setup().report("buy", bob.address, { ...right, ...change }))).toEqual([
          422,
          code,
        ]);
      expect((await setup().report("buy", bob.address, right)).status).toBe(200);
      for (const change of Object.values(changes))
        expect(failure(await setup().report("buy", bob.address, { ...right, ...change }))).toEqual([
          409,
          "duplicate_purchase",
        ]);
    });

    test("what another wallet did is refused, and 409 once that wallet has recorded it", async () => {
      const redemptionHash = await redeemed(105n);
      const listingHash = await listed(7n, usdc(8));
      const purchaseHash = await send(bob, setup().calls.buy(3n));
      const foreign = [
        ["redeem", bob, setup().bodies.redemption(redemptionHash, 105n, bob.address)],
        ["list", alice, setup().bodies.listing(listingHash, 7n, usdc(8), alice.address)],
        ["buy", alice, setup().bodies.purchase(purchaseHash, 3n, alice.address)],
      ] as const;
      const refusals = async () =>
        Promise.all(
          foreign.map(async ([path, { address }, body]) =>
            failure(await setup().report(path, address, body)),
          ),
        );
      expect(await refusals()).toEqual([
        [422, "holder_mismatch"],
        [403, "seller_mismatch"],
        [403, "buyer_mismatch"],
      ]);
      const own = await Promise.all([
        setup().report("redeem", alice.address, setup().bodies.redemption(redemptionHash, 105n)),
        setup().report("list", bob.address, setup().bodies.listing(listingHash, 7n, usdc(8))),
        setup().report("buy", bob.address, setup().bodies.purchase(purchaseHash, 3n)),
      ]);
      expect(own.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(await refusals()).toEqual([
        [409, "duplicate_redemption"],
        [409, "duplicate_listing"],
        [409, "duplicate_purchase"],
      ]);
    });

    test("a transaction without such an event is event_missing", async () => {
      const hash = await redeemed(106n);
      const answers = [
        await setup().report("list", alice.address, setup().bodies.listing(hash, 1n, 1n, alice.address)),
        await setup().report("buy", alice.address, setup().bodies.purchase(hash, 1n, alice.address)),
        await setup().report(
          "redeem",
          alice.address,
          setup().bodies.redemption(await listed(1n, usdc(2)), 1n),
        ),
      ];
      for (const answer of answers) expect(failure(answer)).toEqual([422, "event_missing"]);
    });

    test("a transaction that nobody has sent is tx_not_found, once the node was asked again", async () => {
      const { counts } = setup().node;
      const before = counts.get("eth_getTransactionReceipt") ?? 0;
      const answer = await setup().report(
        "redeem",
        alice.address,
        setup().bodies.redemption(`0x${"ab".repeat(32)}`, 1n),
      );
      expect(failure(answer)).toEqual([404, "tx_not_found"]);
      expect((counts.get("eth_getTransactionReceipt") ?? 0) - before).toBeGreaterThan(1);
    });
  });

  describe("a reverted transaction is tx_reverted, with the contract's reason", () => {
    const buyPolicy = (coverage: bigint): Call => {
      const { productId, asset } = termsOf("FLASHBTC1H-001");
      const args = [productId, coverage, asset] as const;
      const data = encodeFunctionData({ abi: coverRouterAbi, functionName: "purchasePolicy", args });
      return { to: setup().chain.deployment.contracts.coverRouter, data };
    };
    /** Sends the call while the token has this price: 0.10 USD is the usual one. */
    const atPrice = async (dollars: string, call: Call) => {
      await act.setTokenPrice(setup().protocol, owner, dollars);
      const hash = await send(alice, call);
      await act.setTokenPrice(setup().protocol, owner, "0.1");
      return hash;
    };
    const redeem = (amount: bigint, epochId = setup().matured) => setup().calls.redeem(epochId, amount);
    const list = (amount: bigint, price: bigint, epochId = setup().fresh) =>
      setup().calls.list(epochId, amount, price);

    test.each<[reason: string, kind: keyof typeof paths, () => Promise<Hex>]>([
      ["Not matured", "redeem", () => send(alice, redeem(1n, setup().fresh))],
      ["Insufficient bonds", "redeem", () => send(alice, redeem(1_000_000n))],
      ["Price too low", "redeem", () => atPrice("0.00099999", redeem(1n))],
      ["User epoch limit", "redeem", () => atPrice("0.001", redeem(60_000n))],
      ["Only PolicyManager", "redeem", () => send(alice, setup().calls.issueBond(alice.address, 1n))],
      ["InsufficientCapacity(5600000, ", "redeem", () => send(alice, buyPolicy(usdc(7_000_000)))],
      ["InsufficientListingValue(0, ", "list", () => send(bob, list(1n, 0n))],
      ["NotMatured(", "list", () => send(alice, list(1n, usdc(2), setup().matured))],
      ["NotBondOwner(0x", "list", () => send(bob, list(100_000n, usdc(200_000)))],
      ["ListingNotFound(999)", "buy", () => send(bob, setup().calls.buy(999n))],
    ])("%s", async (reason, kind, sent) => {
      const hash = await sent();
      const bodies = {
        redeem: [alice, setup().bodies.redemption(hash, 1n)],
        list: [bob, setup().bodies.listing(hash, 1n, 1n)],
        buy: [bob, setup().bodies.purchase(hash, 999n)],
      } as const;
      const [wallet, body] = bodies[kind];
      const answer = await setup().report(kind, wallet.address, body);
      expect(failure(answer)).toEqual([422, "tx_reverted"]);
      expect(messageOf(answer)).toContain(`: ${reason}`);
    });
  });

  describe("bad input", () => {
    const hash: Hex = `0x${"ab".repeat(32)}`;

    test.each<[keyof typeof paths, string, () => object]>([
      ["redeem", "owner_mismatch", () => setup().bodies.redemption(hash, 1n, newWallet())],
      ["list", "seller_mismatch", () => setup().bodies.listing(hash, 1n, 1n, newWallet())],
      ["buy", "buyer_mismatch", () => setup().bodies.purchase(hash, 1n, newWallet())],
    ])("%s: a wallet that is not the key's is 403 %s", async (path, code, body) => {
      expect(failure(await setup().report(path, alice.address, body()))).toEqual([403, code]);
    });

    test.each<[keyof typeof paths, object, string[]]>([
      ["redeem", {}, ["epochId", "ownerAddress", "txHash", "usdAmount"]],
      ["redeem", { epochId: "1", bondId: "2" }, ["bondId"]],
      ["redeem", { usdAmount: "1.5" }, ["usdAmount"]],
      ["redeem", { usdAmount: 1 }, ["usdAmount"]],
      ["redeem", { epochId: String(2n ** 256n) }, ["epochId"]],
      ["redeem", { txHash: "0x12" }, ["txHash"]],
      ["redeem", { ownerAddress: "alice" }, ["ownerAddress"]],
      ["list", {}, ["amount", "epochId", "sellerAddress", "totalPriceUsdc", "txHash"]],
      ["list", { totalPriceUsdc: "-1" }, ["totalPriceUsdc"]],
      ["list", { amount: null }, ["amount"]],
      ["buy", {}, ["amount", "buyerAddress", "listingId", "totalPaidUsdc", "txHash"]],
      ["buy", { listingId: "x" }, ["listingId"]],
      ["buy", { totalPaidUsdc: "1e6" }, ["totalPaidUsdc"]],
    ])("%s with %j is 400 with the fields %j", async (path, change, fields) => {
      const valid = {
        redeem: setup().bodies.redemption(hash, 1n),
        list: setup().bodies.listing(hash, 1n, 1n),
        buy: setup().bodies.purchase(hash, 1n),
      }[path];
      const body = Object.keys(change).length === 0 ? {} : { ...valid, ...change };
      const answer = await setup().report(path, alice.address, body);
      expect(failure(answer)).toEqual([400, "validation_error"]);
      expect(invalidFields(answer)).toEqual(fields);
    });

    test.each(["7", "x".repeat(36)])("GET /api/v1/reports/%s is 400", async (id) => {
      expect(failure(await setup().read(alice.address, id))).toEqual([400, "validation_error"]);
    });
  });
}
