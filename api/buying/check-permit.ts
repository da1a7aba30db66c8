import type { Address } from "viem";
import { expandSignature } from "../../lib/chain/account-signature.ts";
import type { Permit } from "../../lib/chain/permit.ts";
import { ApiError } from "../../lib/errors.ts";
import type { ChainReads } from "../chain/chain-reads.ts";
import type { Funds } from "./refusal-reasons.ts";

/**
 * A permit must stay valid for this long, in seconds: a purchase waits a minute to be signed, and then for `PURCHASE_TTL`, ten
 * minutes by default, to be mined.
 */
const PERMIT_SECONDS_AHEAD = 900;

const invalid = (field: keyof Permit, message: string) =>
  new ApiError("invalid_permit", `permit.${field}: ${message}`, {
    details: [{ path: `permit.${field}`, message }],
  });

/**
 * The permit sets the allowance anew, for this purchase's premium and those of the buyer's others in flight (6 decimals).
 * @throws ApiError `invalid_permit`
 */
export function requireValue({ value }: Permit, premium: bigint, held: bigint): void {
  if (value >= held + premium) return;
  const others = held > 0n ? ` and ${held} for the buyer's purchases in flight` : "";
  throw invalid(
    "value",
    `must be ${held + premium} at least: the premium of ${premium}${others} (USDC, 6 decimals)`,
  );
}

/** The buyer's funds once the permit is mined: it is sent only where it raises the allowance. */
export const withPermit = (funds: Funds, { value }: Permit): Funds => ({
  ...funds,
  allowance: value > funds.allowance ? value : funds.allowance,
});

/**
 * Why USDC would refuse a permit, and the permit as it takes it: of a plain account with 65 bytes (USDC knows no compact form), of a
 * contract wallet as it is.
 */
async function permitAsTaken(
  chain: Pick<ChainReads, "permitFault">,
  buyer: Address,
  permit: Permit,
): Promise<{ permit: Permit; fault: string | undefined }> {
  const signature = expandSignature(permit.signature);
  if (signature) {
    const expanded = { ...permit, signature };
    const fault = await chain.permitFault(buyer, expanded);
    if (fault === undefined) return { permit: expanded, fault };
  }
  return { permit, fault: await chain.permitFault(buyer, permit) };
}

/**
 * Checks a buyer's permit for a premium (6 decimals) against the newest block: undefined when it was used already and the allowance
 * that it left suffices.
 * @throws ApiError `invalid_permit`, or `chain_not_found` when the node does not answer
 */
export async function checkPermit(
  chain: Pick<ChainReads, "head" | "recentHead" | "permitFault" | "funds">,
  buyer: Address,
  sent: Permit,
  premium: bigint,
): Promise<Permit | undefined> {
  requireValue(sent, premium, 0n);
  const [head, { permit, fault }] = await Promise.all([
    chain.recentHead(),
    permitAsTaken(chain, buyer, sent),
  ]);
  const earliest = head.timestamp + BigInt(PERMIT_SECONDS_AHEAD);
  if (fault === undefined) {
    if (permit.deadline >= earliest) return permit;
    throw invalid(
      "deadline",
      `must be ${earliest} (Unix seconds) at least: 15 minutes after the newest block`,
    );
  }
  // A head that is not the newest would show an allowance from before the last purchase.
  const newest = await chain.head();
  const { allowance } = await chain.funds(buyer, newest.number);
  if (allowance >= premium) return undefined;
  if (permit.deadline < newest.timestamp) throw invalid("deadline", "has passed");
  throw invalid("signature", `USDC would refuse the permit: ${fault}`);
}
