import { type Address, createPublicClient, http, type LocalAccount } from "viem";
import type { Deployment } from "../../../lib/deployments.ts";
import { planDeployment, retirementCalls } from "./plan.ts";
import { sendAll } from "./send.ts";
import { allTerms } from "./terms.ts";

export type DeployOptions = {
  readonly rpcUrl: string;
  readonly chainId: number;
  /** The chain's name as clients see it. */
  readonly name: string;
  /** Pays, and owns every contract afterwards; on a local chain anvil's account 0. */
  readonly owner: LocalAccount;
  /** Put on the router's allowlist. */
  readonly relayers: readonly Address[];
  readonly local: boolean;
  readonly explorerUrl?: string | null;
  /**
   * The V5.0 product is paused and the withdrawn one inactive, as in release V5.4 (the default). With `false` both are
   * on sale, so that a history can sell them first; retire them with {@link retireProducts}.
   */
  readonly retired?: boolean;
};

/**
 * Puts the reference protocol with all its products, mock USDC and feeds on a chain, and returns its deployment file.
 * The contracts must be compiled. Takes about a second on anvil, which may mine by transaction or by time.
 * @throws when a transaction is refused or reverts.
 */
export async function deployProtocol(options: DeployOptions): Promise<Deployment> {
  const { rpcUrl, chainId, name, owner, relayers, local, explorerUrl = null, retired = true } = options;
  const firstNonce = await nextNonce(rpcUrl, owner.address);
  const { contracts, transactions } = planDeployment(owner.address, firstNonce, relayers, allTerms);
  const all = retired ? [...transactions, ...retirementCalls(contracts, allTerms)] : transactions;
  const receipts = await sendAll({ rpcUrl, chainId, account: owner }, all, firstNonce);
  return {
    chainId,
    name,
    local,
    release: "V5.4",
    startBlock: Math.min(...receipts.map((r) => Number(r.blockNumber))),
    explorerUrl,
    contracts,
  };
}

/** Pauses the V5.0 product and deactivates the withdrawn one, where a deployment left them on sale. */
export async function retireProducts(
  { chainId, contracts }: Deployment,
  rpcUrl: string,
  owner: LocalAccount,
): Promise<void> {
  const firstNonce = await nextNonce(rpcUrl, owner.address);
  await sendAll({ rpcUrl, chainId, account: owner }, retirementCalls(contracts, allTerms), firstNonce);
}

const nextNonce = (rpcUrl: string, address: Address): Promise<number> =>
  createPublicClient({ transport: http(rpcUrl) }).getTransactionCount({ address, blockTag: "pending" });
