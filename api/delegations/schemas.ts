import { z } from "@hono/zod-openapi";
import {
  Address,
  addressInput,
  DecimalString,
  nullableTimestamp,
  signatureInput,
  Timestamp,
  UnixSeconds,
  uint256Input,
  unixSecondsInput,
} from "../http/field-types.ts";
import { delegationStatuses, type Delegation as Record } from "./store.ts";

/** The year 10000 begins: a later expiry could not be answered as a time. */
const MAX_EXPIRY = 253_402_300_800n;

export const NewDelegation = z
  .object({
    buyer: addressInput.openapi({ description: "Whose money may be spent; the signer." }),
    agent: addressInput.openapi({ description: "The wallet whose keys may spend it." }),
    totalPremiumCap: uint256Input
      .refine((cap) => cap > 0n, "must be above zero")
      .openapi({
        description: "The most that all premiums together may come to, USDC base units (6 decimals).",
        example: "100000000",
      }),
    expiry: unixSecondsInput
      .refine((expiry) => expiry < MAX_EXPIRY, "must be before the year 10000")
      .openapi({ description: "From when on nothing may be bought under it, Unix seconds." }),
    nonce: uint256Input.openapi({
      description: "Any number; two delegations of otherwise the same terms need different ones.",
      example: "1",
    }),
    signature: signatureInput.openapi({
      description:
        "The buyer's, by EIP-712: the domain has `chainId` and `verifyingContract` (the cover router) and nothing else, the primary type is `Delegation(address buyer,address agent,uint256 totalPremiumCap,uint256 expiry,uint256 nonce)`. Contract wallets sign by ERC-1271 or ERC-6492.",
    }),
  })
  .refine(({ buyer, agent }) => buyer !== agent, {
    path: ["agent"],
    message: "must be another wallet than the buyer's, which needs no delegation",
  })
  .openapi("NewDelegation", {
    example: {
      buyer: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
      agent: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
      totalPremiumCap: "100000000",
      expiry: "1767225600",
      nonce: "1",
      signature: `0x${"12".repeat(64)}1b`,
    },
  });

const usdc = (description: string, example: string) =>
  DecimalString.openapi({ description: `${description} USDC base units (6 decimals).`, example });

const fields = z.object({
  delegationId: z.int().openapi({ description: "Number of the delegation.", example: 1 }),
  buyer: Address,
  agent: Address,
  totalPremiumCap: usdc("The most that all premiums together may come to.", "100000000"),
  premiumSpent: usdc("Premiums of purchases under it: of those mined, and of those on their way.", "2920000"),
  premiumRemaining: usdc("What is left of the cap.", "97080000"),
  expiry: UnixSeconds,
  nonce: DecimalString.openapi({ example: "1" }),
  status: z.enum(delegationStatuses).openapi({
    description:
      "`active`: purchases may be made under it; `exhausted`: nothing is left of the cap; `expired`, `revoked`: nothing more may be bought.",
  }),
  createdAt: Timestamp,
  revokedAt: nullableTimestamp("Null unless revoked."),
});

export const Delegation = fields.openapi("Delegation");
export const RecordedDelegation = fields.extend({ ok: z.literal(true) }).openapi("RecordedDelegation");

export function delegationBody(delegation: Record): z.infer<typeof Delegation> {
  const { id, totalPremiumCap, premiumSpent, expiry, nonce, createdAt, revokedAt, ...rest } = delegation;
  const remaining = totalPremiumCap - premiumSpent;
  return {
    delegationId: id,
    ...rest,
    totalPremiumCap: String(totalPremiumCap),
    premiumSpent: String(premiumSpent),
    premiumRemaining: String(remaining > 0n ? remaining : 0n),
    expiry: String(expiry),
    nonce: String(nonce),
    createdAt: createdAt.toISOString(),
    revokedAt: revokedAt?.toISOString() ?? null,
  };
}
