import { createRoute, z } from "@hono/zod-openapi";
import { getAddress } from "viem";
import { failures } from "../http/error-envelope.ts";
import { Address, EXAMPLE_SIGNATURE, signatureInput } from "../http/field-types.ts";
import { IssuedKey, labelInput } from "./schemas.ts";

const Onboard = z
  .object({
    walletAddress: Address.transform((sent) => ({ sent, address: getAddress(sent.toLowerCase()) })).openapi({
      description: "The wallet that the key will belong to.",
    }),
    signature: signatureInput.openapi({
      description:
        "Signature of the message `Service onboarding for {address} at {timestamp}` by EIP-191 `personal_sign`. The message has the address as in `walletAddress`, in lowercase, or with its checksum. Contract wallets sign by ERC-1271 or ERC-6492.",
    }),
    timestamp: z.int("must be Unix seconds, a whole number").min(0).openapi({
      description: "The signed timestamp in Unix seconds, within 300 seconds of the server's time.",
      example: 1767225600,
    }),
    label: labelInput,
  })
  .openapi("Onboard", {
    example: {
      walletAddress: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
      signature: EXAMPLE_SIGNATURE,
      timestamp: 1767225600,
      label: "trading bot",
    },
  });

export const onboardRoute = createRoute({
  method: "post",
  path: "/api/v1/agent/onboard",
  operationId: "onboard",
  tags: ["keys"],
  summary: "Issue a key by the wallet's signature",
  description:
    "A wallet has at most three active keys. Each pair of wallet and timestamp makes one key; a failed call does not use it up. A client address may call 10 times an hour.",
  request: { body: { required: true, content: { "application/json": { schema: Onboard } } } },
  responses: {
    201: { description: "The new key.", content: { "application/json": { schema: IssuedKey } } },
    ...failures(
      "invalid_body",
      "stale_timestamp",
      "invalid_signature",
      "cap_reached",
      "signature_used",
      "payload_too_large",
      "unsupported_media_type",
      "internal_error",
      "chain_not_found",
      "database_unavailable",
      "verification_busy",
    ),
  },
});
