import { createRoute, z } from "@hono/zod-openapi";
import { getAddress } from "viem";
import { failures } from "../http/error-envelope.ts";
import { Address, signatureInput } from "../http/field-types.ts";
import { IssuedKey, labelInput } from "./schemas.ts";

const Onboard = z
  .object({
    walletAddress: Address.transform((sent) => ({ sent, address: getAddress(sent.toLowerCase()) })).openapi({
      description: "The wallet that the key will belong to.",
    }),
    signature: signatureInput.openapi({
      description:
        "Of the message `Service onboarding for {address} at {timestamp}`, by EIP-191 `personal_sign`; the address as in `walletAddress`, in lowercase or with its checksum. Contract wallets sign by ERC-1271 or ERC-6492.",
    }),
    timestamp: z.int("must be Unix seconds, a whole number").min(0).openapi({
      description: "As signed, in Unix seconds; 300 seconds from the server's time at most, either way.",
      example: 1767225600,
    }),
    label: labelInput,
  })
  .openapi("Onboard", {
    example: {
      walletAddress: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
      signature: `0x${"12".repeat(64)}1b`,
      timestamp: 1767225600,
      label: "trading bot",
    },
  });

export const onboardRoute = createRoute({
  method: "post",
  path: "/api/v1/agent/onboard",
  operationId: "onboard",
  tags: ["agent"],
  summary: "Issue a key to one's own wallet, by its signature",
  description:
    "A wallet has three active keys at most, and a signature makes one key: (wallet, timestamp) is used up with it. A call that makes no key uses nothing up. A client address has 10 tries an hour, whatever comes of them.",
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
