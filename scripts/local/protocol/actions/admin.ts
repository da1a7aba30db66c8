/** Actions of the owner: pauses, relayers, products. */
import { type Address, encodeFunctionData, type Hex, type LocalAccount } from "viem";
import { coverRouterAbi } from "../../../../abis/CoverRouter.ts";
import { globalPauseRegistryAbi } from "../../../../abis/GlobalPauseRegistry.ts";
import { policyManagerAbi } from "../../../../abis/PolicyManager.ts";
import { type Protocol, send } from "./protocol.ts";

const toRouter = (protocol: Protocol, account: LocalAccount, data: Hex) =>
  send(protocol, account, protocol.deployment.contracts.coverRouter, data);
const toManager = (protocol: Protocol, account: LocalAccount, data: Hex) =>
  send(protocol, account, protocol.deployment.contracts.policyManager, data);

/** Pauses or resumes the router, and so all sales. */
export const setRouterPaused = (protocol: Protocol, owner: LocalAccount, paused: boolean) =>
  toRouter(
    protocol,
    owner,
    encodeFunctionData({ abi: coverRouterAbi, functionName: "setPaused", args: [paused] }),
  );

/** Pauses or resumes all sales by the registry. @throws where the deployment has none. */
export function setGlobalPause(protocol: Protocol, owner: LocalAccount, paused: boolean) {
  const { pauseRegistry } = protocol.deployment.contracts;
  if (pauseRegistry === undefined) throw new Error("the deployment has no pause registry");
  const data = encodeFunctionData({
    abi: globalPauseRegistryAbi,
    functionName: "setGlobalPause",
    args: [paused],
  });
  return send(protocol, owner, pauseRegistry, data);
}

/** Puts a relayer on the allowlist, or takes it off. */
export const setRelayer = (protocol: Protocol, owner: LocalAccount, relayer: Address, authorized: boolean) =>
  toRouter(
    protocol,
    owner,
    encodeFunctionData({ abi: coverRouterAbi, functionName: "setRelayer", args: [relayer, authorized] }),
  );

/** Tells the router the token's price: below it sales stay stopped until it is higher again. Any account may call it. */
export const syncCircuitBreaker = (protocol: Protocol, account: LocalAccount) =>
  toRouter(
    protocol,
    account,
    encodeFunctionData({ abi: coverRouterAbi, functionName: "syncCircuitBreaker" }),
  );

/** Registers a product. The router also needs the terms of a new one. */
export const registerProduct = (protocol: Protocol, owner: LocalAccount, productId: Hex, shield: Address) =>
  toManager(
    protocol,
    owner,
    encodeFunctionData({ abi: policyManagerAbi, functionName: "registerProduct", args: [productId, shield] }),
  );

/** A product's terms in the router; all zero for an unknown product. */
export const productConfigOf = ({ client, deployment }: Protocol, productId: Hex) =>
  client.readContract({
    abi: coverRouterAbi,
    address: deployment.contracts.coverRouter,
    functionName: "getProductConfig",
    args: [productId],
  });
export type ProductConfig = Awaited<ReturnType<typeof productConfigOf>>;

/** Sets what the router knows of a product. */
export const configureProduct = (
  protocol: Protocol,
  owner: LocalAccount,
  { productId, payoutRatioBps, triggerProbBps, marginBps, durationSeconds, active }: ProductConfig,
) =>
  toRouter(
    protocol,
    owner,
    encodeFunctionData({
      abi: coverRouterAbi,
      functionName: "configureProduct",
      args: [productId, payoutRatioBps, triggerProbBps, marginBps, durationSeconds, active],
    }),
  );

/** Switches the sale of a product by the router, and leaves the manager's switch. */
export const setProductActive = async (
  protocol: Protocol,
  owner: LocalAccount,
  productId: Hex,
  active: boolean,
) => configureProduct(protocol, owner, { ...(await productConfigOf(protocol, productId)), active });

/** Ends the sale of a product. */
export const deactivateProduct = (protocol: Protocol, owner: LocalAccount, productId: Hex) =>
  toManager(
    protocol,
    owner,
    encodeFunctionData({ abi: policyManagerAbi, functionName: "deactivateProduct", args: [productId] }),
  );
