/** Permits of USDC (EIP-2612): a signature that sets an allowance. */
import {
  type Address,
  decodeFunctionData,
  encodeFunctionData,
  type Hex,
  isAddressEqual,
  parseAbi,
  parseSignature,
  size,
} from "viem";
import { ACCOUNT_SIGNATURE } from "./account-signature.ts";

/** The typed data (EIP-712) that the owner signs. Wallets want the domain's type by name; viem adds it by itself. */
export const domainType = [
  { name: "name", type: "string" },
  { name: "version", type: "string" },
  { name: "chainId", type: "uint256" },
  { name: "verifyingContract", type: "address" },
] as const;

/** The permit that goes with the token's domain. */
export const permitTypes = {
  Permit: [
    { name: "owner", type: "address" },
    { name: "spender", type: "address" },
    { name: "value", type: "uint256" },
    { name: "nonce", type: "uint256" },
    { name: "deadline", type: "uint256" },
  ],
} as const;

/** A signed allowance: `value` with 6 decimals, `deadline` in Unix seconds, the signature of an account or a contract. */
export type Permit = { value: bigint; deadline: bigint; signature: Hex };

/** The wallet that signs a permit, and the contract that may take its USDC. */
export type PermitParties = { owner: Address; spender: Address };

/** The most gas that a permit is sent with: its check runs a contract wallet's code. That of a plain account takes a quarter. */
export const MAX_PERMIT_GAS = 300_000n;

const permitAbi = parseAbi([
  "function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)",
  "function permit(address owner, address spender, uint256 value, uint256 deadline, bytes signature)",
]);

/** A plain account's signature as its parts; undefined for any other. */
function partsOf(signature: Hex): readonly [v: number, r: Hex, s: Hex] | undefined {
  if (size(signature) !== ACCOUNT_SIGNATURE) return undefined;
  try {
    const { yParity, r, s } = parseSignature(signature);
    return [27 + yParity, r, s];
  } catch {
    return undefined;
  }
}

/**
 * The calldata of a permit, for the token. A signature of 65 bytes goes as v, r, s, which every token with permits takes;
 * others go as bytes, which USDC takes.
 */
export function permitCalldata(
  { owner, spender }: PermitParties,
  { value, deadline, signature }: Permit,
): Hex {
  const parts = partsOf(signature);
  return encodeFunctionData({
    abi: permitAbi,
    functionName: "permit",
    args: [owner, spender, value, deadline, ...(parts ?? [signature])],
  });
}

/** The owner of a permit for this spender, and its call without what stands behind it; undefined for other calldata. */
export function permitOfCalldata(spender: Address, data: Hex): { owner: Address; call: Hex } | undefined {
  try {
    const { args } = decodeFunctionData({ abi: permitAbi, data });
    const [owner, to] = args;
    const call = encodeFunctionData({ abi: permitAbi, functionName: "permit", args });
    return isAddressEqual(to, spender) && data.startsWith(call) ? { owner, call } : undefined;
  } catch {
    return undefined;
  }
}
