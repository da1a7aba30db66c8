import {
  type Address,
  formatTransaction,
  type Hex,
  keccak256,
  type RpcTransaction,
  serializeTransaction,
} from "viem";
import { lower } from "../../lib/lower.ts";
import type { Call } from "../ledger/assign-nonces.ts";
import type { Signed } from "../ledger/attempts.ts";

/** A transaction of a block; `to` is null where it creates a contract. */
export type SentTransaction = Omit<Call, "to"> & {
  hash: Hex;
  from: Address;
  to: Address | null;
  nonce: number;
  /** Its signed form; undefined for a type of transaction that the writer never signs. */
  signed: Signed | undefined;
};

/** Reads a transaction of a block, with the signed bytes that have its hash. */
export function sentTransactionOf(rpc: RpcTransaction): SentTransaction {
  const formatted = formatTransaction(rpc);
  const { hash, from, to, nonce, input, value, gas } = formatted;
  const sent = { hash, from: lower(from), to: to && lower(to), nonce, data: input, value, gasLimit: gas };
  return { ...sent, signed: signedForm(formatted) };
}

/** The writer signs fee-market transactions only (EIP-1559). */
function signedForm(transaction: ReturnType<typeof formatTransaction>): Signed | undefined {
  if (transaction.type !== "eip1559") return undefined;
  const { hash, chainId, nonce, to, input, value, gas, maxFeePerGas, maxPriorityFeePerGas, ...rest } =
    transaction;
  if (maxFeePerGas === undefined || maxPriorityFeePerGas === undefined || chainId === undefined)
    return undefined;
  const { accessList = [], r, s, yParity = Number(rest.v) } = rest;
  const fees = { maxFeePerGas, maxPriorityFeePerGas };
  const bytes = serializeTransaction(
    { type: "eip1559", chainId, nonce, to, data: input, value, gas, accessList, ...fees },
    { r, s, yParity },
  );
  if (keccak256(bytes) !== hash) return undefined;
  return { hash, bytes, maxFee: maxFeePerGas, priorityFee: maxPriorityFeePerGas };
}
