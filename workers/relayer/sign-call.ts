import { keccak256 } from "viem";
import type { Call } from "../ledger/assign-nonces.ts";
import type { Signed } from "../ledger/attempts.ts";
import type { Fees } from "./fees.ts";
import type { Wallet } from "./wallets.ts";

/** Signs a call for one nonce of a wallet. It sends nothing and needs neither node nor database. */
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
