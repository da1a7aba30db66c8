/** A second adapter of a product, with a shield of its own: its policies count from 1 again. */
import { type Address, createWalletClient, getContractAddress, type LocalAccount } from "viem";
import { proxyCreation } from "../../../scripts/local/protocol/core-contracts.ts";
import { adapterCreation, shieldCreation } from "../../../scripts/local/protocol/deployment-plan.ts";
import type { ProductTerms } from "../../../scripts/local/protocol/terms.ts";
import { toNode } from "../../../scripts/local/to-node.ts";
import type { Protocol } from "../../support/protocol-actions.ts";

/** Creates both, each behind its proxy. @returns the adapter, which is not registered. */
export async function deployAdapter(
  { client, deployment: { contracts }, rpcUrl }: Protocol,
  owner: LocalAccount,
  terms: ProductTerms,
): Promise<Address> {
  const first = await client.getTransactionCount({ address: owner.address });
  const at = (offset: number) => getContractAddress({ from: owner.address, nonce: BigInt(first + offset) });
  const [shield, adapter] = [at(1), at(3)];
  const wallet = createWalletClient({ account: owner, transport: toNode(rpcUrl) });
  for (const { data } of [
    shieldCreation(contracts, terms, adapter),
    proxyCreation("shield", at(0), owner.address),
    adapterCreation(contracts, terms, shield),
    proxyCreation("adapter", at(2), owner.address),
  ]) {
    const hash = await wallet.sendTransaction({ data, chain: null });
    const { status } = await client.waitForTransactionReceipt({ hash });
    if (status !== "success") throw new Error(`a contract of ${terms.name} was not created`);
  }
  return adapter;
}
