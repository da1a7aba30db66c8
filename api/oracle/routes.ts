import { failures } from "../http/error-envelope.ts";
import { createRoute } from "../http/route.ts";
import { OracleSigner, PriceProof, SignProofRequest } from "./schemas.ts";

export const signProofRoute = createRoute({
  method: "post",
  path: "/api/v1/oracle/sign-proof",
  operationId: "signPriceProof",
  tags: ["oracle"],
  summary: "Get a signed price",
  description:
    "The newest price of the asset's feed on the main chain, read and signed for this call; calls at the same time may get the same signature. Signed only while the feed's answer is at most an hour old and the sequencer has been up for an hour. A contract checks it with `verifyPriceProofEIP712` of the domain's contract, and decides by `verifiedAt` how old it may be.",
  security: [{ apiKey: [] }],
  request: { body: { required: true, content: { "application/json": { schema: SignProofRequest } } } },
  responses: {
    200: {
      description: "The price and its signature.",
      content: { "application/json": { schema: PriceProof } },
    },
    ...failures(
      "validation_error",
      "unauthenticated",
      "insufficient_scope",
      "payload_too_large",
      "unsupported_media_type",
      "internal_error",
      "chain_not_found",
      "database_unavailable",
      "oracle_signer_disabled",
      "oracle_signer_unavailable",
      "oracle_stale",
      "sequencer_down",
    ),
  },
});

export const oracleSignerRoute = createRoute({
  method: "get",
  path: "/api/v1/oracle/signer",
  operationId: "getOracleSigner",
  tags: ["oracle"],
  summary: "Get the signer of prices",
  security: [{ apiKey: [] }],
  responses: {
    200: {
      description: "The signer's address, and the domain of its signatures.",
      content: { "application/json": { schema: OracleSigner } },
    },
    ...failures(
      "unauthenticated",
      "insufficient_scope",
      "internal_error",
      "database_unavailable",
      "oracle_signer_disabled",
    ),
  },
});
