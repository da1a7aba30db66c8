import { type Address, getAddress, keccak256, slice, toHex } from "viem";
import type { ReadClient } from "../../../lib/chain/client.ts";
import { MAX_PERMIT_GAS, type Permit, permitCalldata } from "../../../lib/chain/permit.ts";
import { findRevert, isOutOfGas } from "../../../lib/chain/reverts.ts";
import type { Contracts } from "../../../lib/deployments.ts";

/** The sender of checks: a hash, so that nobody has its key. */
const SENDER = getAddress(slice(keccak256(toHex("permit check")), 12));

/**
 * Why USDC would refuse a permit for the router now; undefined when it would take it. Rejects when the node does not answer.
 */
export async function readPermitFault(
  chain: ReadClient,
  { usdc, coverRouter }: Pick<Contracts, "usdc" | "coverRouter">,
  owner: Address,
  permit: Permit,
): Promise<string | undefined> {
  const data = permitCalldata({ owner, spender: coverRouter }, permit);
  try {
    await chain.call({ account: SENDER, to: usdc, data, gas: MAX_PERMIT_GAS });
    return undefined;
  } catch (error) {
    const revert = findRevert(error);
    if (revert) return revert.text;
    if (isOutOfGas(error)) return `it needs more than ${MAX_PERMIT_GAS} gas`;
    throw error;
  }
}
