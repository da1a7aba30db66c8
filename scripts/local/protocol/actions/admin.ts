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

/** Pauses or resumes the whole protocol. */
export const setGlobalPause = (protocol: Protocol, owner: LocalAccount, paused: boolean) =>
  send(
    protocol,
    owner,
    protocol.deployment.contracts.pauseRegistry,
    encodeFunctionData({ abi: globalPauseRegistryAbi, functionName: "setGlobalPause", args: [paused] }),
  );

/** Puts a relayer on the allowlist, or takes it off. */
export const setRelayer = (protocol: Protocol, owner: LocalAccount, relayer: Address, authorized: boolean) =>
  toRouter(
    protocol,
    owner,
    encodeFunctionData({ abi: coverRouterAbi, functionName: "setRelayer", args: [relayer, authorized] }),
  );

/** Sets the token price (18 decimals) below which `checkAutoPause` pauses the router; 0 turns that off. */
export const setMinimumTokenPrice = (protocol: Protocol, owner: LocalAccount, price: bigint) =>
  toRouter(
    protocol,
    owner,
    encodeFunctionData({ abi: coverRouterAbi, functionName: "setMinimumTokenPrice", args: [price] }),
  );

/** Pauses or resumes the router by the token's price. Any account may call it. */
export const checkAutoPause = (protocol: Protocol, account: LocalAccount) =>
  toRouter(protocol, account, encodeFunctionData({ abi: coverRouterAbi, functionName: "checkAutoPause" }));

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

/** Sets the terms of a registered product. */
export const configureProduct = (
  protocol: Protocol,
  owner: LocalAccount,
  name: string,
  config: ProductConfig,
) =>
  toRouter(
    protocol,
    owner,
    encodeFunctionData({ abi: coverRouterAbi, functionName: "configureProduct", args: [name, config] }),
  );

/** Ends the sale of a product. */
export const deactivateProduct = (protocol: Protocol, owner: LocalAccount, productId: Hex) =>
  toManager(
    protocol,
    owner,
    encodeFunctionData({ abi: policyManagerAbi, functionName: "deactivateProduct", args: [productId] }),
  );
