import type { Address } from "viem";

/** Indexed addresses are lowercase. */
export const lower = (address: Address): Address => `0x${address.slice(2).toLowerCase()}`;
