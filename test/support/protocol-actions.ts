/** All actions on a deployed protocol, with those that only tests need. */
import {
  type Address,
  concat,
  encodeFunctionData,
  type Hex,
  type LocalAccount,
  numberToHex,
  slice,
  type TransactionReceipt,
} from "viem";
import { buybackEngineAbi } from "../../abis/BuybackEngine.ts";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { mockSequencerFeedAbi } from "../../abis/MockSequencerFeed.ts";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import { twapBurnerAbi } from "../../abis/TwapBurner.ts";
import { type ProductName, productIdOf } from "../../lib/products.ts";

export * from "../../scripts/local/protocol/actions/index.ts";

import {
  chainTime,
  latestRound,
  nextBlockAt,
  type ProductRef,
  type Protocol,
  type Purchased,
  purchased,
  send,
} from "../../scripts/local/protocol/actions/index.ts";

type AnvilMine = { Method: "evm_mine"; Parameters?: undefined; ReturnType: string };
type AnvilCode = { Method: "anvil_setCode"; Parameters: [Address, Hex]; ReturnType: null };
type AnvilRevert = { Method: "evm_revert"; Parameters: [string]; ReturnType: boolean };

/** Mines an empty block with this timestamp. */
export async function mineAt(protocol: Protocol, timestamp: bigint): Promise<void> {
  await nextBlockAt(protocol, timestamp);
  await protocol.client.request<AnvilMine>({ method: "evm_mine" });
}

/** Mines an empty block `seconds` after the newest one. @returns its timestamp. */
export async function timeTravel(protocol: Protocol, seconds: bigint): Promise<bigint> {
  const timestamp = (await chainTime(protocol)) + seconds;
  await mineAt(protocol, timestamp);
  return timestamp;
}

/** Reverts the chain to a snapshot. */
export async function revertTo({ client }: Protocol, id: string): Promise<void> {
  const done = await client.request<AnvilRevert>({ method: "evm_revert", params: [id] });
  if (!done) throw new Error(`anvil has no snapshot ${id}`);
}

/** Gives an address other code. */
export const setCode = ({ client }: Protocol, address: Address, code: Hex) =>
  client.request<AnvilCode>({ method: "anvil_setCode", params: [address, code] });

/** Has a price feed answer a newest round that was not completed: `answeredInRound` is of the round before. */
export async function setIncompleteRound(protocol: Protocol, feed: "BTC" | "ETH"): Promise<void> {
  const { btcUsdFeed, ethUsdFeed } = protocol.deployment.contracts;
  const { price, updatedAt } = await latestRound(protocol, feed);
  const words = [2n, price, updatedAt, updatedAt, 1n].map((word) => numberToHex(word, { size: 32 }));
  // PUSH32 word, PUSH1 place, MSTORE, for each; at the end RETURN of all five, whatever was called.
  const stores = words.map((word, index) =>
    concat(["0x7f", word, "0x60", numberToHex(index * 32, { size: 1 }), "0x52"]),
  );
  await setCode(protocol, feed === "BTC" ? btcUsdFeed : ethUsdFeed, concat([...stores, "0x60a05ff3"]));
}

/** ERC-1967's slot of a proxy's implementation. */
const IMPLEMENTATION_SLOT = "0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc";

/** Runs a proxied contract with another value in place of an immutable word, which its code contains. */
export async function changeImmutable(
  protocol: Protocol,
  address: Address,
  [from, to]: readonly [from: Hex, to: Hex],
): Promise<void> {
  const slot = await protocol.client.getStorageAt({ address, slot: IMPLEMENTATION_SLOT });
  const code = slot && (await protocol.client.getCode({ address: slice(slot, 12) }));
  const word = from.slice(2).toLowerCase();
  if (!code?.includes(word)) throw new Error(`the code of ${address} has no word ${from}`);
  await setCode(protocol, address, `0x${code.slice(2).replaceAll(word, to.slice(2))}`);
}

/** Sets the sequencer's state and its start, in Unix seconds. */
export function setSequencer(
  protocol: Protocol,
  account: LocalAccount,
  { down, startedAt }: { readonly down: boolean; readonly startedAt: bigint },
): Promise<TransactionReceipt> {
  const data = encodeFunctionData({
    abi: mockSequencerFeedAbi,
    functionName: "setStatus",
    args: [down, startedAt],
  });
  return send(protocol, account, protocol.deployment.contracts.sequencerFeed, data);
}

/** Takes a product off the manager's list, and no more: it is still sold. */
export function removeProduct(protocol: Protocol, owner: LocalAccount, productId: Hex) {
  const data = encodeFunctionData({
    abi: policyManagerAbi,
    functionName: "removeProduct",
    args: [productId],
  });
  return send(protocol, owner, protocol.deployment.contracts.policyManager, data);
}

/** A product's premium in millionths of the coverage. */
export const premiumOf = (
  { client, deployment: { contracts } }: Pick<Protocol, "client" | "deployment">,
  name: ProductName,
): Promise<bigint> =>
  client.readContract({
    abi: coverRouterAbi,
    address: contracts.coverRouter,
    functionName: "exactPremiums",
    args: [productIdOf(name)],
  });

/** Changes a product's premium by some millionths of the coverage. */
export async function changePremium(
  protocol: Protocol,
  owner: LocalAccount,
  name: ProductName,
  ppm: number,
): Promise<void> {
  const data = encodeFunctionData({
    abi: coverRouterAbi,
    functionName: "setExactPremium",
    args: [productIdOf(name), (await premiumOf(protocol, name)) + BigInt(ppm)],
  });
  await send(protocol, owner, protocol.deployment.contracts.coverRouter, data);
}

/** The buyback operator announces a daily budget. */
export function setDailyBuyback(
  protocol: Protocol,
  operator: LocalAccount,
  ...args: readonly [budget: bigint, maxPercent: bigint, hours: bigint]
) {
  const data = encodeFunctionData({ abi: buybackEngineAbi, functionName: "setDailyBuyback", args });
  return send(protocol, operator, protocol.deployment.contracts.buybackEngine, data);
}

/** The burner's owner turns the adaptive split on or off, and names its reserves: buyback, operations, maintenance. */
export async function setAdaptiveMode(
  protocol: Protocol,
  owner: LocalAccount,
  enabled: boolean,
  reserves: readonly [Address, Address, Address],
) {
  const { twapBurner } = protocol.deployment.contracts;
  const calls = [
    encodeFunctionData({ abi: twapBurnerAbi, functionName: "setReserves", args: reserves }),
    encodeFunctionData({ abi: twapBurnerAbi, functionName: "setAdaptiveMode", args: [enabled] }),
  ];
  for (const data of calls) await send(protocol, owner, twapBurner, data);
}

/** A relayer buys a policy for `buyer`, who pays the premium. */
export async function purchaseFor(
  protocol: Protocol,
  relayer: LocalAccount,
  product: ProductRef,
  coverage: bigint,
  buyer: Address,
): Promise<Purchased> {
  const data = encodeFunctionData({
    abi: coverRouterAbi,
    functionName: "purchasePolicyFor",
    args: [product.productId, coverage, product.asset, buyer],
  });
  return purchased(await send(protocol, relayer, protocol.deployment.contracts.coverRouter, data));
}
