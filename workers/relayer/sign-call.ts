import { keccak256 } from "viem";
import type { Call } from "../ledger/assign-nonces.ts";
import type { Signed } from "../ledger/attempts.ts";
import type { Fees } from "./fees.ts";
import { SignerFault } from "./signer/ask.ts";
import type { Wallet } from "./wallets.ts";

/**
 * Signs a call for one nonce of a wallet. It sends nothing and needs neither node nor database.
 * @throws SignerFault when the wallet's signer did not sign
 */
export async function signCall(
  { account, lease }: Pick<Wallet, "account" | "lease">,
  nonce: number,
  call: Call,
  { maxFee, priorityFee }: Fees,
): Promise<Signed> {
  const bytes = await account.signTransaction({
    type: "eip1559",
    chainId: lease.chainId,
    nonce,
    to: call.to,
    data: call.data,
    value: call.value,
    gas: call.gasLimit,
    maxFeePerGas: maxFee,
    maxPriorityFeePerGas: priorityFee,
  });
  return { hash: keccak256(bytes), bytes, maxFee, priorityFee };
}

/** What was signed. What the wallet's signer did not sign is left out: it keeps its nonce, and the recovery asks again. */
export async function whatIsSigned<T>(signing: readonly Promise<T>[]): Promise<T[]> {
  const results = await Promise.allSettled(signing);
  return results.flatMap((result) => {
    if (result.status === "fulfilled") return [result.value];
    if (result.reason instanceof SignerFault) return [];
    throw result.reason;
  });
}
