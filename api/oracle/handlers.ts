import { getAddress } from "viem";
import { assetBytes32 } from "../../lib/products.ts";
import type { RequireApiKey } from "../http/credentials.ts";
import type { Api } from "../http/env.ts";
import { oracleSignerRoute, signProofRoute } from "./routes.ts";
import type { PriceProofBody } from "./schemas.ts";
import { type OracleParts, oracleSigner, type SignedProof, signProof } from "./sign-proof.ts";

const proofBody = (proof: SignedProof): PriceProofBody => ({
  asset: proof.asset,
  assetBytes32: assetBytes32(proof.asset),
  price: proof.price,
  decimals: proof.decimals,
  verifiedAt: proof.verifiedAt,
  feedUpdatedAt: proof.feedUpdatedAt,
  signer: getAddress(proof.signer),
  signature: proof.signature,
});

/** Signed prices, and who signs them. */
export function addOracleRoutes(app: Api, parts: OracleParts & { readonly apiKey: RequireApiKey }): void {
  const { apiKey } = parts;
  app.openapi({ ...signProofRoute, middleware: [apiKey("read")] as const }, async (c) => {
    const { asset } = c.req.valid("json");
    return c.json(proofBody(await signProof(parts, asset)), 200);
  });

  app.openapi({ ...oracleSignerRoute, middleware: [apiKey("read")] as const }, async (c) => {
    const { address, domain } = await oracleSigner(parts);
    return c.json({ signer: address, domain }, 200);
  });
}
