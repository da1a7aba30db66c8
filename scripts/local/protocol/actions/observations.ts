/** Observes policies through the keeper contract: three observations trigger a policy, one after its end expires it. */
import { encodeAbiParameters, encodeFunctionData, type LocalAccount } from "viem";
import { bondVaultAbi } from "../../../../abis/BondVault.ts";
import { shieldKeeperAbi } from "../../../../abis/ShieldKeeper.ts";
import { DWELL, OBSERVATION_INTERVAL } from "../../../../lib/price-rules.ts";
import { assetSymbols } from "../../../../lib/products.ts";
import type { ProductTerms } from "../terms.ts";
import { latestRound, pushPrice } from "./feeds.ts";
import { coverOf, type ProductRef, triggerPrice } from "./policies.ts";
import { onlyEvent, type Protocol, send } from "./protocol.ts";
import { chainTime, nextBlockAt } from "./time.ts";

/** Evaluates each of these policies once. Any account may; a policy that cannot be observed now does not revert. */
export function observe(
  protocol: Protocol,
  account: LocalAccount,
  { productId }: Pick<ProductRef, "productId">,
  policyIds: readonly bigint[],
  gas?: bigint,
) {
  const { shieldKeeper } = protocol.deployment.contracts;
  if (shieldKeeper === undefined) throw new Error("the deployment has no keeper contract");
  const performData = encodeAbiParameters(
    [{ type: "bytes32" }, { type: "uint256[]" }],
    [productId, policyIds],
  );
  const data = encodeFunctionData({
    abi: shieldKeeperAbi,
    functionName: "performUpkeep",
    args: [performData],
  });
  return send(protocol, account, shieldKeeper, data, 0n, gas);
}

/**
 * Observes a policy at its trigger price twice, then makes the third, low round, which `pay` may observe. Moves the clock past
 * the dwell and by the intervals.
 */
export async function observeTwice(
  protocol: Protocol,
  account: LocalAccount,
  product: ProductRef & Pick<ProductTerms, "symbol" | "triggerDropBps">,
  policyId: bigint,
): Promise<void> {
  const low = await triggerPrice(protocol, product, policyId);
  const { start } = await coverOf(protocol, product, policyId);
  let at = start + BigInt(DWELL);
  for (let i = 0; i < 3; i++) {
    const now = await chainTime(protocol);
    if (at <= now) at = now + 1n;
    await nextBlockAt(protocol, at);
    await pushPrice(protocol, account, product.symbol, low);
    if (i < 2) await observe(protocol, account, product, [policyId]);
    at = (await chainTime(protocol)) + BigInt(OBSERVATION_INTERVAL);
  }
}

/**
 * Triggers a policy by three observations at its trigger price, and restores the prices: the clock has moved on, by seven minutes
 * for a new policy. @returns the issued bond.
 */
export async function trigger(
  protocol: Protocol,
  account: LocalAccount,
  product: ProductRef & Pick<ProductTerms, "symbol" | "triggerDropBps">,
  policyId: bigint,
) {
  const prices = await Promise.all(
    assetSymbols.map(async (symbol) => [symbol, (await latestRound(protocol, symbol)).price] as const),
  );
  await observeTwice(protocol, account, product, policyId);
  const receipt = await observe(protocol, account, product, [policyId]);
  for (const [symbol, price] of prices) await pushPrice(protocol, account, symbol, price);
  const { epochId, usdAmount, to } = onlyEvent(receipt, bondVaultAbi, "BondIssued").args;
  return { epochId, usdAmount, holder: to, receipt };
}
