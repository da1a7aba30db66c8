import { type Address, createPublicClient, type LocalAccount } from "viem";
import type { Deployment } from "../../../lib/deployments.ts";
import { toNode } from "../to-node.ts";
import { type Plan, planDeployment } from "./deployment-plan.ts";
import { retirementCall } from "./retirement.ts";
import { sendAll } from "./send-transactions.ts";
import { allTerms } from "./terms.ts";

export type DeployOptions = {
  readonly rpcUrl: string;
  readonly chainId: number;
  /** The chain's name as clients see it. */
  readonly name: string;
  /** Deploys and then owns every contract; on a local chain anvil's account 0. */
  readonly owner: LocalAccount;
  /** Put on the router's allowlist. */
  readonly relayers: readonly Address[];
  /** The signer of prices that the verifier accepts. */
  readonly oracle: Address;
  readonly local: boolean;
  readonly explorerUrl?: string | null;
  /**
   * True (the default) deactivates the retired product. With `false` a history can sell it first and retire it with
   * {@link retireProduct}.
   */
  readonly retired?: boolean;
  /** Of a policy, USDC with 6 decimals; by default so high that the capacity decides. */
  readonly maximumCoverage?: bigint;
};

/**
 * Deploys the reference protocol with all its products, mock USDC and feeds, and returns the deployment file's content. The
 * contracts must be compiled. Takes about a second on anvil, whether it mines by transaction or by time.
 * @throws when the node rejects a transaction, or one reverts.
 */
export async function deployProtocol(options: DeployOptions): Promise<Deployment> {
  const { rpcUrl, chainId, name, owner, relayers, oracle, local } = options;
  const { explorerUrl = null, retired = true, maximumCoverage } = options;
  const firstNonce = await nextNonce(rpcUrl, owner.address);
  const plan = planDeployment(owner.address, firstNonce, {
    relayers,
    oracle,
    products: allTerms,
    ...(maximumCoverage === undefined ? {} : { maximumCoverage }),
  });
  const { contracts, transactions } = plan;
  const all = retired ? [...transactions, retirementCall(contracts)] : transactions;
  const receipts = await sendAll({ rpcUrl, chainId, account: owner }, all, firstNonce);
  const startBlock = Math.min(...receipts.map((r) => Number(r.blockNumber)));
  return deploymentOf(plan, { chainId, name, local, explorerUrl, startBlock });
}

/** The content of the deployment file of an executed plan. */
export const deploymentOf = (
  { contracts, priceProofVerifier }: Plan,
  network: Pick<Deployment, "chainId" | "name" | "local" | "explorerUrl" | "startBlock">,
): Deployment => ({
  ...network,
  release: "V5.4",
  contracts,
  products: [],
  // The domain that the verifier's constructor sets.
  ...(priceProofVerifier === undefined
    ? {}
    : { oracle: { name: "PriceProofVerifier", version: "1", verifyingContract: priceProofVerifier } }),
});

/** Ends the sale of the retired product, after a deployment with `retired: false`. */
export async function retireProduct(
  { chainId, contracts }: Deployment,
  rpcUrl: string,
  owner: LocalAccount,
): Promise<void> {
  const firstNonce = await nextNonce(rpcUrl, owner.address);
  await sendAll({ rpcUrl, chainId, account: owner }, [retirementCall(contracts)], firstNonce);
}

const nextNonce = (rpcUrl: string, address: Address): Promise<number> =>
  createPublicClient({ transport: toNode(rpcUrl) }).getTransactionCount({ address, blockTag: "pending" });
