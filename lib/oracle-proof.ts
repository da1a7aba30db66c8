import { encodeAbiParameters, type Hex } from "viem";

/** The proof of `submitTrigger`: the ids of three rounds of the policy's feed, rising. */
export function encodeOracleProof(rounds: readonly bigint[]): Hex {
  const [first, second, third, ...more] = rounds;
  if (first === undefined || second === undefined || third === undefined || more.length > 0)
    throw new Error(`a proof has three rounds, not ${rounds.length}`);
  return encodeAbiParameters([{ type: "uint80[3]" }], [[first, second, third]]);
}
