import { z } from "@hono/zod-openapi";
import { zeroAddress } from "viem";
import { Address, addressInput, Bytes32, Timestamp } from "../http/field-types.ts";
import { faucetTerms } from "./terms.ts";

const ether = (description: string, example: string) =>
  z
    .string()
    .regex(/^\d+(\.\d+)?$/)
    .openapi({ description: `${description} In ETH, as a decimal number.`, example });
const dollars = (description: string) =>
  z
    .string()
    .regex(/^\d+(\.\d+)?$/)
    .openapi({ description: `${description} In mock USDC, as a decimal number.`, example: "10000" });

export const FaucetClaimRequest = z
  .object({
    wallet: addressInput
      .refine((wallet) => wallet !== zeroAddress, "must not be the zero address")
      .openapi({ description: "Who gets the grant; no contract of the protocol." }),
  })
  .openapi("FaucetClaimRequest", { example: { wallet: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8" } });

export const FaucetClaim = z
  .object({
    success: z.literal(true),
    ethTxHash: Bytes32.openapi({ description: "The transaction that paid the ether." }),
    usdcTxHash: Bytes32.openapi({ description: "The transaction that minted the mock USDC." }),
    ethAmount: ether("The ether.", "0.05"),
    usdcAmount: dollars("The mock USDC."),
    mockUsdcAddress: Address,
    nextEligibleAt: Timestamp.openapi({
      description: "When the wallet and the client address may claim again, to the millisecond.",
    }),
  })
  .openapi("FaucetClaim");

export type FaucetClaimBody = z.infer<typeof FaucetClaim>;

export const FaucetStatus = z
  .object({
    enabled: z.boolean().openapi({ description: "False where there is no faucet, or it was stopped." }),
    status: z.enum(["ready", "unready", "disabled"]).openapi({
      description:
        "Whether a claim can be granted now; `unready` while no writer is at work, the ether is spent, or the day's grants are given.",
    }),
    reason: z.string().nullable().openapi({ description: "Why not; null when it is ready.", example: null }),
    relayerEthBalance: ether("What the faucet's wallet has; 0 where there is none.", "9999.95"),
    relayerUsdcBalance: z
      .string()
      .nullable()
      .openapi({ description: "Always null: the token is minted for each claim.", example: null }),
    mockUsdcAddress: z
      .string()
      .regex(/^0x[a-fA-F0-9]{40}$/)
      .nullable()
      .openapi({
        description: "Null where there is no testnet.",
        example: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
      }),
    usdcPerClaim: dollars("Per claim."),
    ethPerClaim: ether("Per claim.", "0.05"),
    cooldownHours: z.int().openapi({
      description: "Between two claims of a wallet, and of a client address.",
      example: faucetTerms.cooldownHours,
    }),
    claimsLast24h: z.int().openapi({
      description: "Claims of the last 24 hours, but for those of which nothing was sent.",
      example: 3,
    }),
    claimsToday: z
      .int()
      .openapi({ description: "Likewise of the UTC day; these the cap limits.", example: 3 }),
    dailyCap: z.int().openapi({ description: "Claims of a UTC day.", example: faucetTerms.dailyCap }),
    capResetsAt: Timestamp.openapi({ description: "When the UTC day ends." }),
  })
  .openapi("FaucetStatus");

export type FaucetStatusBody = z.infer<typeof FaucetStatus>;
