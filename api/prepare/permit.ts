/** The signature of a purchase that the service sends: a permit of USDC for the cover router. */
import { type Address, domainSeparator, type Hex, parseAbi } from "viem";
import type { ReadClient } from "../../lib/chain/client.ts";
import { domainType, permitTypes } from "../../lib/chain/permit.ts";
import { findRevert, isEmptyAnswer } from "../../lib/chain/reverts.ts";
import type { Contracts } from "../../lib/deployments.ts";
import { usdcText } from "./amount-text.ts";
import type { PlanContext } from "./plan.ts";
import type { SignatureStepBody } from "./schemas.ts";
import { type TransactionStep, usdcApproval } from "./steps.ts";

/** How long a prepared permit is valid, in seconds: the purchase wants 15 minutes of it at least. */
const PERMIT_SECONDS = 3600n;

const tokenAbi = parseAbi([
  "function name() view returns (string)",
  "function version() view returns (string)",
  "function nonces(address) view returns (uint256)",
  "function DOMAIN_SEPARATOR() view returns (bytes32)",
]);

/** What a permit of an owner has to name. */
type Permits = { domain: SignatureStepBody["typedData"]["domain"]; nonce: bigint };

/** Undefined when the token has no permits, or its domain is not made of its name, version and chain. */
export async function readPermits(
  reads: ReadClient,
  { usdc: address }: Pick<Contracts, "usdc">,
  owner: Address,
  blockNumber: bigint,
): Promise<Permits | undefined> {
  const token = { address, abi: tokenAbi, blockNumber } as const;
  try {
    const [name, version, nonce, separator, chainId] = await Promise.all([
      reads.readContract({ ...token, functionName: "name" }),
      reads.readContract({ ...token, functionName: "version" }),
      reads.readContract({ ...token, functionName: "nonces", args: [owner] }),
      reads.readContract({ ...token, functionName: "DOMAIN_SEPARATOR" }),
      reads.getChainId(),
    ]);
    const domain = { name, version, chainId, verifyingContract: address };
    return domainSeparator({ domain }) === separator ? { domain, nonce } : undefined;
  } catch (error) {
    if (findRevert(error) || isEmptyAnswer(error)) return undefined;
    throw error;
  }
}

/** The approval that a wallet with code sends if USDC refuses its permit. `premium` and `allowance` have 6 decimals. */
export function approvalInPlaceOfPermit(
  { contracts }: PlanContext,
  premium: bigint,
  allowance: bigint,
): TransactionStep {
  const step = usdcApproval("cover router", contracts.coverRouter, premium, allowance);
  const description = `In place of a permit that was refused. ${step.description}`;
  return { ...step, optional: true, description };
}

/** The permit of a premium (6 decimals), complete where the allowance suffices; no step where the token knows no permits. */
export function permitSteps(
  { block, contracts, from }: PlanContext,
  {
    permits,
    allowance,
    premium,
    productId,
    coverage,
  }: { permits: Permits | undefined; allowance: bigint; premium: bigint; productId: Hex; coverage: bigint },
): SignatureStepBody[] {
  if (!permits) return [];
  const isComplete = allowance >= premium;
  const terms = { value: String(premium), deadline: String(block.timestamp + PERMIT_SECONDS) };
  const message = { owner: from, spender: contracts.coverRouter, ...terms, nonce: String(permits.nonce) };
  const purchase = { productId, coverageAmount: String(coverage), buyer: from };
  return [
    {
      ...{ id: "permit", kind: "signature", status: isComplete ? "complete" : "incomplete", optional: false },
      description: `Lets the cover router take ${usdcText(premium)} of the wallet, and no more, within an hour.`,
      typedData: {
        domain: permits.domain,
        types: { EIP712Domain: [...domainType], Permit: [...permitTypes.Permit] },
        primaryType: "Permit",
        message,
      },
      report: {
        ...{ method: "POST", path: "/api/v1/policies" },
        body: isComplete ? purchase : { ...purchase, permit: terms },
      },
    },
  ];
}
