/** The register of products: switches, removal, and a product with a new adapter. */
import type { Address } from "viem";
import { beforeEach, describe, expect, test } from "vitest";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import { productIdOf } from "../../lib/products.ts";
import { retireProduct } from "../../scripts/local/protocol/deploy.ts";
import { allTerms, retiredTerms, termsOf } from "../../scripts/local/protocol/terms.ts";
import * as act from "../support/protocol-actions.ts";
import { bothWays, observed } from "./evaluation.ts";
import { readsOf } from "./reads.ts";
import {
  alice,
  bob,
  expectRevert,
  HOUR,
  owner,
  relayer,
  stranger,
  TOKEN,
  USDC,
  useProtocol,
} from "./support.ts";

const protocol = useProtocol({ retired: false });
const { policy, reservedFor, vault } = readsOf(protocol);
const btc1h = termsOf("FLASHBTC1H-001");

const buy = (product: act.ProductRef = btc1h, account = alice) =>
  act.purchase(protocol(), account, product, 1_000n * USDC);
const trigger = async (product: typeof btc1h, policyId: bigint) =>
  (await act.trigger(protocol(), stranger, product, policyId)).usdAmount;
const manager = () => ({ abi: policyManagerAbi, address: protocol().deployment.contracts.policyManager });
const currentAdapter = () =>
  protocol().client.readContract({ ...manager(), functionName: "productShield", args: [btc1h.productId] });
const isActive = () =>
  protocol().client.readContract({ ...manager(), functionName: "productActive", args: [btc1h.productId] });
const countOf = (contract: "coverRouter" | "policyManager") =>
  protocol().client.readContract({
    abi: coverRouterAbi,
    address: protocol().deployment.contracts[contract],
    functionName: "getProductCount",
  });

describe("a product", () => {
  test("is sold if both router and manager have it active, and its policies continue without", async () => {
    const { policyId } = await buy();
    await act.setProductActive(protocol(), owner, btc1h.productId, false);
    expect([(await act.productConfigOf(protocol(), btc1h.productId)).active, await isActive()]).toEqual([
      false,
      true,
    ]);
    await expectRevert(buy(), `ProductInactive(${btc1h.productId})`);
    await act.setProductActive(protocol(), owner, btc1h.productId, true);
    await act.deactivateProduct(protocol(), owner, btc1h.productId);
    expect(await isActive()).toBe(false);
    await expectRevert(buy(), `ProductNotActive(${btc1h.productId})`);
    expect(await trigger(btc1h, policyId)).toBe(800n);
    const { adapter } = await act.coverOf(protocol(), btc1h, policyId);
    await act.registerProduct(protocol(), owner, btc1h.productId, adapter);
    expect((await buy()).policyId).toBe(2n);
  });

  test("that is retired keeps its policies", async () => {
    const { policyId } = await buy(retiredTerms);
    await retireProduct(protocol().deployment, protocol().rpcUrl, owner);
    await expectRevert(buy(retiredTerms), `ProductNotActive(${retiredTerms.productId})`);
    expect(await trigger(retiredTerms, policyId)).toBe(800n);
  });

  test("that is removed leaves the manager's list alone: it is still sold", async () => {
    const receipt = await act.removeProduct(protocol(), owner, btc1h.productId);
    expect(act.onlyEvent(receipt, policyManagerAbi, "ProductRemoved").args).toEqual({
      productId: btc1h.productId,
    });
    expect([await countOf("coverRouter"), await countOf("policyManager")]).toEqual([7n, 6n]);
    expect(await isActive()).toBe(true);
    expect((await buy()).policyId).toBe(1n);
    await expectRevert(
      act.removeProduct(protocol(), owner, btc1h.productId),
      `ProductNotFound(${btc1h.productId})`,
    );
  });

  test("is in the router's list once, and in the manager's as often as it was registered", async () => {
    const config = await act.productConfigOf(protocol(), btc1h.productId);
    await act.configureProduct(protocol(), owner, config);
    await act.registerProduct(protocol(), owner, btc1h.productId, await currentAdapter());
    const count = BigInt(allTerms.length);
    expect([await countOf("coverRouter"), await countOf("policyManager")]).toEqual([count, count + 1n]);
  });

  test("has a payout ratio of 80 %, and all zero while it is unknown", async () => {
    const config = await act.productConfigOf(protocol(), btc1h.productId);
    await expectRevert(
      act.configureProduct(protocol(), owner, { ...config, payoutRatioBps: 7_999n }),
      "Payout ratio must be 8000",
    );
    expect(Object.values(await act.productConfigOf(protocol(), productIdOf("NONE"))).map(Number)).toEqual([
      ...[0, 0, 0, 0, 0, 0],
    ]);
    expect(await policy(btc1h.productId, 7n)).toMatchObject({ buyer: `0x${"0".repeat(40)}`, createdAt: 0n });
  });
});

describe("a product with a new adapter", () => {
  let former: Address;
  let current: Address;
  let policyId = 0n;
  beforeEach(async () => {
    ({ policyId } = await buy());
    former = await currentAdapter();
    current = await act.replaceAdapter(protocol(), owner, btc1h);
    await act.setAdapterRelayer(protocol(), owner, former, relayer.address);
  });
  const settle = () => act.checkAndSettle(protocol(), relayer, former, policyId);
  const submit = () => act.submitTrigger(protocol(), relayer, btc1h, policyId);

  test("leaves an open policy at the former one: performUpkeep does not find it, its relayer and the router do", async () => {
    expect((await policy(btc1h.productId, policyId)).shield).toBe(former);
    await act.timeTravel(protocol(), 300n);
    for (let i = 0; i < 2; i++) {
      await act.timeTravel(protocol(), 60n);
      await act.pushPrice(protocol(), owner, "BTC", 58_500_00000000n);
      expect(await observed(protocol(), btc1h, policyId)).toBe("POLICY_NOT_FOUND");
      await settle();
    }
    await act.timeTravel(protocol(), 60n);
    await act.pushPrice(protocol(), owner, "BTC", 58_500_00000000n);
    expect((await submit()).usdAmount).toBe(800n);
  });

  test("leaves an expired policy to be closed by markExpired", async () => {
    await act.timeTravel(protocol(), HOUR + 60n);
    await act.markExpired(protocol(), stranger, btc1h, policyId);
    expect(await vault("totalReservedUSD")).toBe(0n);
  });

  test("counts from 1 again and overwrites the record, whose reservation nobody can end", async () => {
    const second = await buy(btc1h, bob);
    expect(second.policyId).toBe(policyId);
    expect(await policy(btc1h.productId, policyId)).toMatchObject({ buyer: bob.address, shield: current });
    expect(await reservedFor(btc1h.productId, policyId)).toBe(800n * TOKEN);
    expect(await vault("totalReservedUSD")).toBe(1_600n * TOKEN);

    await act.timeTravel(protocol(), 240n);
    for (let i = 0; i < 3; i++) {
      await act.timeTravel(protocol(), 60n);
      await act.pushPrice(protocol(), owner, "BTC", 58_500_00000000n);
      if (i < 2) await settle();
      else await expectRevert(settle(), "Only shield");
      await act.observe(protocol(), stranger, btc1h, [policyId]);
    }
    expect(await policy(btc1h.productId, policyId)).toMatchObject({ buyer: bob.address, triggered: true });
    expect(await bothWays(protocol(), btc1h, policyId)).toEqual(["Already triggered", "ALREADY_FINALIZED"]);
    await act.timeTravel(protocol(), HOUR);
    await expectRevert(settle(), "Only shield");
    await expectRevert(act.markExpired(protocol(), stranger, btc1h, policyId), "Already triggered");
    expect(await vault("totalReservedUSD")).toBe(800n * TOKEN);
  });
});
