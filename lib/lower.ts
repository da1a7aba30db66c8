import type { Hex } from "viem";

/** Addresses, hashes and bytes as the ledger stores and compares them. */
export const lower = (hex: Hex): Hex => `0x${hex.slice(2).toLowerCase()}`;
