import { z } from "@hono/zod-openapi";
import {
  Address,
  addressInput,
  DecimalString,
  EXAMPLE_SIGNATURE,
  nullableTimestamp,
  signatureInput,
  Timestamp,
  UnixSeconds,
  uint256Input,
  unixSecondsInput,
} from "../http/field-types.ts";
import { requestObject } from "../http/request-object.ts";
import { delegationStatuses, type Delegation as Record } from "./store.ts";

export const NewDelegation = requestObject({
  buyer: addressInput.openapi({ description: "The wallet that pays the premiums, and signs." }),
  agent: addressInput.openapi({ description: "The wallet that may spend them with its keys." }),
  totalPremiumCap: uint256Input
    .refine((cap) => cap > 0n, "must be above zero")
    .openapi({
      description: "Maximum sum of all premiums, USDC base units (6 decimals).",
      example: "100000000",
    }),
  expiry: unixSecondsInput.openapi({ description: "End of the delegation, Unix seconds." }),
  nonce: uint256Input.openapi({
    description: "Any number; delegations with otherwise equal terms need different ones.",
    example: "1",
  }),
  signature: signatureInput.openapi({
    description:
      "The buyer's signature by EIP-712. The domain has only `chainId` and `verifyingContract` (the cover router); the primary type is `Delegation(address buyer,address agent,uint256 totalPremiumCap,uint256 expiry,uint256 nonce)`. Contract wallets sign by ERC-1271 or ERC-6492.",
  }),
})
  .refine(({ buyer, agent }) => buyer !== agent, {
    path: ["agent"],
    message: "must not be the buyer, who needs no delegation",
  })
  .openapi("NewDelegation", {
    example: {
      buyer: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
      agent: "0x90F79bf6EB2c4f870365E785982E1f101E93b906",
      totalPremiumCap: "100000000",
      expiry: "1769904000",
      nonce: "1",
      signature: EXAMPLE_SIGNATURE,
    },
  });

const usdc = (description: string, example: string) =>
  DecimalString.openapi({ description: `${description} USDC base units (6 decimals).`, example });

const fields = z.object({
  delegationId: z.int().openapi({ description: "Id of the delegation.", example: 1 }),
  buyer: Address,
  agent: Address.openapi({ example: "0x90F79bf6EB2c4f870365E785982E1f101E93b906" }),
  totalPremiumCap: usdc("Maximum sum of all premiums.", "100000000"),
  premiumSpent: usdc("Premiums of mined purchases and of purchases in progress.", "2920000"),
  premiumRemaining: usdc("Rest of the cap.", "97080000"),
  expiry: UnixSeconds.openapi({ example: "1769904000" }),
  nonce: DecimalString.openapi({ example: "1" }),
  status: z.enum(delegationStatuses).openapi({
    description:
      "`active`: purchases may be made under it; `exhausted`: the cap is used up; `expired`, `revoked`: no purchase is accepted any more.",
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
