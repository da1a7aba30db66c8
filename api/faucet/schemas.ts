import { z } from "@hono/zod-openapi";
import { zeroAddress } from "viem";
import { Address, addressInput, Timestamp, TxHash } from "../http/field-types.ts";
import { requestObject } from "../http/request-object.ts";
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

export const FaucetClaimRequest = requestObject({
  wallet: addressInput
    .refine((wallet) => wallet !== zeroAddress, "must not be the zero address")
    .openapi({ description: "Receives the grant; must not be a contract of the protocol." }),
}).openapi("FaucetClaimRequest", { example: { wallet: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC" } });

export const FaucetClaim = z
  .object({
    success: z.literal(true),
    ethTxHash: TxHash.openapi({ description: "Transaction that sent the ether." }),
    usdcTxHash: TxHash.openapi({
      description: "Transaction that minted the mock USDC.",
      example: "0xc0f3b3eedcfaf36c58e24af2ac3a2b889c086d8cd7a5336eb73c75409c1a1712",
    }),
    ethAmount: ether("Ether sent.", "0.05"),
    usdcAmount: dollars("Amount minted."),
    mockUsdcAddress: Address.openapi({ example: "0x5FbDB2315678afecb367f032d93F642f64180aa3" }),
    nextEligibleAt: Timestamp.openapi({
      description: "When the wallet and the client address may claim again.",
      example: "2026-01-02T00:00:00.000Z",
    }),
  })
  .openapi("FaucetClaim");

export type FaucetClaimBody = z.infer<typeof FaucetClaim>;

export const FaucetStatus = z
  .object({
    enabled: z
      .boolean()
      .openapi({ description: "False if there is no faucet, or the operator has stopped it." }),
    status: z.enum(["ready", "unready", "disabled"]).openapi({
      description:
        "Whether a claim can be granted now. `unready`: no writer is running, the ether is spent, gas is too expensive or its daily budget spent, or all grants of the day are given.",
    }),
    reason: z
      .string()
      .nullable()
      .openapi({ description: "Why no claim can be granted; null when ready.", example: null }),
    relayerEthBalance: ether("Balance of the faucet's wallet; 0 without one.", "9999.95"),
    relayerUsdcBalance: z
      .string()
      .nullable()
      .openapi({ description: "Always null: the token is minted for each claim.", example: null }),
    mockUsdcAddress: z
      .string()
      .regex(/^0x[a-fA-F0-9]{40}$/)
      .nullable()
      .openapi({
        description: "Null without a testnet.",
        example: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
      }),
    usdcPerClaim: dollars("Per claim."),
    ethPerClaim: ether("Per claim.", "0.05"),
    cooldownHours: z.int().openapi({
      description: "Hours between two claims of a wallet, or of a client address.",
      example: faucetTerms.cooldownHours,
    }),
    claimsLast24h: z.int().openapi({
      description: "Claims within the last 24 hours, without those that sent nothing.",
      example: 3,
    }),
    claimsToday: z
      .int()
      .openapi({ description: "The same for this UTC day; `dailyCap` limits them.", example: 3 }),
    dailyCap: z.int().openapi({ description: "Maximum claims per UTC day.", example: faucetTerms.dailyCap }),
    capResetsAt: Timestamp.openapi({
      description: "When the UTC day ends.",
      example: "2026-01-02T00:00:00.000Z",
    }),
  })
  .openapi("FaucetStatus");

export type FaucetStatusBody = z.infer<typeof FaucetStatus>;
