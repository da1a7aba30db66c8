import type { Connection } from "../../lib/db/connect.ts";
import type { Deployment, IncompleteDeployment } from "../../lib/deployments.ts";
import { ApiError } from "../../lib/errors.ts";
import { createWaiter, type Waiter } from "../../lib/ledger/waiter.ts";
import type { AssetSymbol } from "../../lib/products.ts";
import { fromDatabase } from "../http/dependency-timeout.ts";
import { type OracleSigner, type PriceProof, readProofs, readSigner, requestProof } from "./queries.ts";

/** Longest wait for the writer, in ms: two of its failing reads of the chain. */
const WAIT_MS = 4000;
/** Postgres channel on which a trigger announces answers. */
const PROOF_CHANNEL = "service_price_proof";

export type ProofWaiter = Waiter<PriceProof>;

/** Waits until the writer has answered requests for signed prices. */
export const createProofWaiter = (databaseUrl: string, { sql }: Connection): ProofWaiter =>
  createWaiter<PriceProof>(databaseUrl, {
    what: "price-proof",
    channel: PROOF_CHANNEL,
    read: (ids) => readProofs(sql, ids),
    isSettled: ({ state }) => state !== "pending",
  });

export type OracleParts = {
  readonly connection: Connection;
  readonly deployment: Pick<Deployment | IncompleteDeployment, "chainId" | "oracle">;
  readonly proofs: ProofWaiter;
};

export type SignedProof = Extract<PriceProof, { state: "signed" }>;

const disabled = (reason: string) => new ApiError("oracle_signer_disabled", reason);

/** The signer of prices and its typed data's domain. @throws ApiError `oracle_signer_disabled`, `database_unavailable` */
export async function oracleSigner({ connection, deployment }: OracleParts) {
  const { chainId, oracle } = deployment;
  if (!oracle) throw disabled("The service signs no prices on this chain.");
  const signer: OracleSigner | undefined = await fromDatabase(() => readSigner(connection.sql, chainId));
  if (!signer) throw disabled("No writer has had a key for signing prices within the last hour.");
  return { ...signer, domain: { ...oracle, chainId } };
}

/**
 * Asks a writer for a signed price, and waits for it. The writer reads the price itself: it learns the asset alone.
 * @throws ApiError why there is none
 */
export async function signProof(parts: OracleParts, asset: AssetSymbol): Promise<SignedProof> {
  const { connection, deployment, proofs } = parts;
  const { alive } = await oracleSigner(parts);
  if (!alive) {
    throw new ApiError("oracle_signer_unavailable", "No writer that signs prices runs at present.");
  }
  const id = await fromDatabase(() => requestProof(connection.sql, deployment.chainId, asset));
  const proof = await fromDatabase(() => proofs.wait(id, WAIT_MS), WAIT_MS);
  switch (proof.state) {
    case "signed":
      return proof;
    case "failed":
      throw new ApiError(proof.code, proof.message);
    case "pending":
      throw new ApiError("oracle_signer_unavailable", "No writer has answered in time; try again later.");
  }
}
