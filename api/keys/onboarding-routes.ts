import { z } from "@hono/zod-openapi";
import { getAddress } from "viem";
import { failures } from "../http/error-envelope.ts";
import { Address, EXAMPLE_SIGNATURE, signatureInput } from "../http/field-types.ts";
import { requestObject } from "../http/request-object.ts";
import { createRoute } from "../http/route.ts";
import { IssuedKey, keyLimitInputs, labelInput } from "./schemas.ts";

/** For examples: a message for the host cover.example by the wallet of `EXAMPLE_SIGNATURE`, and its signature. */
const EXAMPLE_MESSAGE =
  "cover.example wants you to sign in with your Ethereum account:\n0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC\n\nMake an API key.\n\nURI: https://cover.example\nVersion: 1\nChain ID: 8453\nNonce: 5d1c0f6be27a94d3\nIssued At: 2026-01-01T00:00:00Z\nResources:\n- urn:parametric-cover:scopes:read,buy\n- urn:parametric-cover:max-premium-per-day:50000000";
const EXAMPLE_MESSAGE_SIGNATURE =
  "0x30fe5cebf3c85eb6b441fc1bdb24fe70b93fb177f63ee90939e4c8e90cc2d22068cf08a1042dd11863ad27823f9c19a61e8452e94149850d90a7419a4669722d1c";

/** Longest EIP-4361 message, in characters: one with a statement has about 300, and fifty products by their ids take 3,350. */
const MAX_MESSAGE = 5000;

const isObject = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const Onboard = requestObject({
  walletAddress: Address.transform((sent) => ({ sent, address: getAddress(sent.toLowerCase()) })).openapi({
    description: "The wallet that the key will belong to.",
  }),
  signature: signatureInput.openapi({
    description:
      "Signature by EIP-191 `personal_sign` of `message`, or of `Service onboarding for {address} at {timestamp}` with the address as in `walletAddress`, in lowercase, or with its checksum. Contract wallets sign by ERC-1271 or ERC-6492.",
  }),
  timestamp: z.int("must be Unix seconds, a whole number").min(0).optional().openapi({
    description:
      "Required without `message`: the signed timestamp in Unix seconds, within 300 seconds of the server's time.",
    example: 1767225600,
  }),
  message: z.string().max(MAX_MESSAGE, `must have ${MAX_MESSAGE} characters at most`).optional().openapi({
    description:
      "Instead of `timestamp`, and recommended, because the signature counts for this service alone: the signed EIP-4361 message (Sign-In with Ethereum). It names `walletAddress`, this API's host as its domain and the main chain's id, and was issued within 300 seconds of the server's time. Its `Resources` may state the key's limits and `replaces`: `urn:parametric-cover:replaces:7`, `urn:parametric-cover:scopes:read,buy`, `urn:parametric-cover:products:FLASHBTC1H-001`, `urn:parametric-cover:max-premium-per-purchase:10000000`, `urn:parametric-cover:max-premium-per-day:50000000`. The body must say the same. Other resources are ignored.",
    example: EXAMPLE_MESSAGE,
  }),
  label: labelInput,
  replaces: z.int().min(1).optional().openapi({
    description:
      "The id of an active key of this wallet, which is revoked in the same moment: for a wallet that has lost its keys. The message of `cap_reached` names them. The wallet must sign it: `message` has it in its `Resources`.",
    example: 7,
  }),
  ...keyLimitInputs,
})
  .refine(({ timestamp, message }) => (timestamp === undefined) !== (message === undefined), {
    path: ["timestamp"],
    message: "must be given, or message in its place, and not both",
    // Also beside faults of other fields, so that the response names all.
    when: ({ value }) => isObject(value),
  })
  .openapi("Onboard");

const walletAddress = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
const examples = {
  message: {
    summary: "Sign-In with Ethereum",
    value: {
      walletAddress,
      signature: EXAMPLE_MESSAGE_SIGNATURE,
      message: EXAMPLE_MESSAGE,
      label: "trading bot",
      scopes: ["read", "buy"],
      maxPremiumPerDay: "50000000",
    },
  },
  timestamp: {
    summary: "The service's own message",
    value: { walletAddress, signature: EXAMPLE_SIGNATURE, timestamp: 1767225600, label: "trading bot" },
  },
};

export const onboardRoute = createRoute({
  method: "post",
  path: "/api/v1/agent/onboard",
  operationId: "onboard",
  tags: ["keys"],
  summary: "Issue a key by the wallet's signature",
  description:
    "A wallet has at most three active keys. Each pair of wallet and timestamp (of a `message`, its second of issue) makes one key; a failed call does not use it up. Give an agent a key with limits: they are never changed, and in the `Resources` of a `message` nobody can leave them out. A client address may call 10 times an hour.",
  request: { body: { required: true, content: { "application/json": { schema: Onboard, examples } } } },
  responses: {
    201: { description: "The new key.", content: { "application/json": { schema: IssuedKey } } },
    ...failures(
      "invalid_body",
      "stale_timestamp",
      "invalid_signature",
      "key_not_found",
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
