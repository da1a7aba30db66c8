import { oracleProof } from "../../lib/chain/trigger.ts";
import { type FallenRound, freshUntil } from "./fallen-rounds.ts";

export const roundBody = ({ roundId, price, updatedAt }: FallenRound) => ({
  roundId: String(roundId),
  price: String(price),
  updatedAt: String(updatedAt),
});

/** The proof of three rounds by rising id, and the last second (Unix) in which the shield takes it. */
export function proofBody(rounds: readonly FallenRound[], expiresAt: bigint) {
  const fresh = freshUntil(rounds);
  return {
    rounds: rounds.map(roundBody),
    oracleProof: oracleProof(rounds.map(({ roundId }) => roundId)),
    validUntil: String(fresh < expiresAt ? fresh : expiresAt),
  };
}
