import type { Call } from "./assign-nonces.ts";

/** A call, and the most that the chain may charge for its data on the L1, in wei; 0 on a chain without such a fee. */
export type PricedCall = Call & { l1Fee: bigint };

/** The most that a call may cost in wei, without the ether that it transfers; `maxFee` in wei per gas. */
export const costOf = ({ gasLimit, l1Fee }: Pick<PricedCall, "gasLimit" | "l1Fee">, maxFee: bigint): bigint =>
  gasLimit * maxFee + l1Fee;
