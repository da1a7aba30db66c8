/** A new adapter for a product that has one. */
import {
  type Address,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  type LocalAccount,
  zeroAddress,
} from "viem";
import { shieldAdapterAbi } from "../../../../abis/ShieldAdapter.ts";
import { proxyCreation } from "../core-contracts.ts";
import { adapterCreation, shieldCreation } from "../deployment-plan.ts";
import { call } from "../planned-transactions.ts";
import { sendAll } from "../send-transactions.ts";
import type { ProductTerms } from "../terms.ts";
import { registerProduct } from "./admin.ts";
import { type Protocol, send } from "./protocol.ts";

/** Registers a product with a new adapter and shield. Its policies count from 1 again. @returns the adapter. */
export async function replaceAdapter(
  protocol: Protocol,
  owner: LocalAccount,
  terms: ProductTerms,
): Promise<Address> {
  const { deployment, client, rpcUrl } = protocol;
  const { contracts, chainId } = deployment;
  const firstNonce = await client.getTransactionCount({ address: owner.address, blockTag: "pending" });
  const addressAt = (index: number) =>
    getContractAddress({ from: owner.address, nonce: BigInt(firstNonce + index) });
  const [shield, adapter] = [addressAt(1), addressAt(3)];
  const transactions = [
    shieldCreation(contracts, terms, adapter),
    proxyCreation(`shield of ${terms.name}`, addressAt(0), owner.address),
    adapterCreation(contracts, terms, shield),
    proxyCreation(`adapter of ${terms.name}`, addressAt(2), owner.address),
    call("let the keeper settle", adapter, setKeeperData(contracts.shieldKeeper ?? zeroAddress)),
  ];
  await sendAll({ rpcUrl, chainId, account: owner }, transactions, firstNonce);
  await registerProduct(protocol, owner, terms.productId, adapter);
  return adapter;
}

const setKeeperData = (keeper: Address): Hex =>
  encodeFunctionData({ abi: shieldAdapterAbi, functionName: "setKeeper", args: [keeper] });

/** Lets an account settle an adapter's policies one by one. */
export const setAdapterRelayer = (
  protocol: Protocol,
  owner: LocalAccount,
  adapter: Address,
  relayer: Address,
) =>
  send(
    protocol,
    owner,
    adapter,
    encodeFunctionData({ abi: shieldAdapterAbi, functionName: "setRelayer", args: [relayer] }),
  );

/** Evaluates one policy through its adapter, also a replaced one. The adapter's relayer may. */
export const checkAndSettle = (
  protocol: Protocol,
  account: LocalAccount,
  adapter: Address,
  policyId: bigint,
) =>
  send(
    protocol,
    account,
    adapter,
    encodeFunctionData({ abi: shieldAdapterAbi, functionName: "checkAndSettlePolicy", args: [policyId] }),
  );
