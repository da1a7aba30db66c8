/** A prepared action in the OpenAPI document. */
import { z } from "@hono/zod-openapi";
import { contractKeys, optionalContractKeys } from "../../lib/deployments.ts";
import {
  Address,
  BlockHash,
  Bytes32,
  DecimalString,
  nullableDecimal,
  UnixSeconds,
} from "../http/field-types.ts";
import { PreparedIssue } from "./issue-schemas.ts";

const decimal = (description: string, example: string) => DecimalString.openapi({ description, example });
const bytes = (description: string) =>
  z
    .string()
    .regex(/^0x([0-9a-f]{2})*$/)
    .openapi({
      description,
      example: "0x4ee30d0b0000000000000000000000000000000000000000000000000000000000000011",
    });

export const preparedActions = [
  "redeem",
  "list",
  "buy",
  "cancel",
  "withdraw",
  "trigger",
  "purchase",
] as const;
export type PreparedAction = (typeof preparedActions)[number];

const Report = z.object({
  method: z.literal("POST"),
  path: z.enum(["/api/v1/redeem", "/api/v1/marketplace/list", "/api/v1/marketplace/buy"]),
  body: z
    .union([
      z.object({ epochId: z.string(), usdAmount: z.string(), ownerAddress: z.string() }),
      z.object({
        epochId: z.string(),
        amount: z.string(),
        totalPriceUsdc: z.string(),
        sellerAddress: z.string(),
      }),
      z.object({
        listingId: z.string(),
        amount: z.string(),
        totalPaidUsdc: z.string(),
        buyerAddress: z.string(),
      }),
    ])
    .openapi({
      description: "The body without `txHash`: add the hash of the mined transaction. Needs a key of `from`.",
      example: { listingId: "17", amount: "800", totalPaidUsdc: "913500000" },
    }),
});

const TransactionStep = z
  .object({
    id: z.enum(["approve", "revoke", ...preparedActions]),
    kind: z.literal("transaction"),
    status: z.enum(["complete", "incomplete"]).openapi({
      description: "`complete`: the chain has its effect already, nothing is to be sent.",
      example: "incomplete",
    }),
    optional: z.boolean().openapi({
      description:
        "True for a step that the action does not need, or that takes the place of a refused permit; it is neither in `sendCalls` nor simulated.",
      example: false,
    }),
    description: z.string().openapi({ description: "What it does, for the wallet's owner." }),
    call: z
      .object({
        contract: z
          .enum([...contractKeys, ...optionalContractKeys])
          .openapi({ description: "Key of `contracts` in `GET /health`." }),
        function: z.string().openapi({ example: "executeBuy" }),
        args: z.array(z.union([z.string(), z.boolean()])).openapi({
          description: "Arguments in their order: integers as decimal digits, bytes and addresses as hex.",
          example: ["17"],
        }),
      })
      .openapi({ description: "The call that `data` encodes." }),
    to: Address.openapi({ description: "Address of the contract." }),
    data: bytes("The calldata."),
    value: decimal("Wei to send.", "0"),
    gas: nullableDecimal(
      "The gas limit to sign with, where a node's estimate is too low: a `performUpkeep` that lacks gas succeeds and does nothing. Null: as estimated.",
      null,
    ),
    report: Report.nullable().openapi({
      description: "Where the transaction can be reported once it is mined; null where there is no report.",
    }),
  })
  .openapi("PreparedTransaction");

const SignatureStep = z
  .object({
    id: z.literal("permit"),
    kind: z.literal("signature"),
    status: z.enum(["complete", "incomplete"]).openapi({
      description: "`complete`: the allowance suffices, nothing is to be signed.",
      example: "incomplete",
    }),
    optional: z.literal(false),
    description: z.string().openapi({ description: "What it allows, for the wallet's owner." }),
    typedData: z
      .object({
        domain: z.object({
          name: z.string().openapi({ example: "USD Coin" }),
          version: z.string().openapi({ example: "2" }),
          chainId: z.int().openapi({ example: 8453 }),
          verifyingContract: Address,
        }),
        types: z.record(z.string(), z.array(z.object({ name: z.string(), type: z.string() }))),
        primaryType: z.literal("Permit"),
        message: z.object({
          owner: Address,
          spender: Address,
          value: decimal("USDC, 6 decimals.", "52600000"),
          nonce: decimal("The owner's next nonce.", "0"),
          deadline: UnixSeconds,
        }),
      })
      .openapi({ description: "For `eth_signTypedData_v4` (EIP-712)." }),
    report: z
      .object({
        method: z.literal("POST"),
        path: z.literal("/api/v1/policies"),
        body: z.object({
          productId: Bytes32,
          coverageAmount: decimal("USDC, 6 decimals.", "1000000000"),
          buyer: Address,
          permit: z
            .object({ value: decimal("USDC, 6 decimals.", "52600000"), deadline: UnixSeconds })
            .optional(),
        }),
      })
      .openapi({
        description:
          "The purchase: add the signature as `permit.signature`; there is no `permit` where the step is complete. Needs a key of `from`.",
      }),
  })
  .openapi("PreparedPermit");

/** A union, so that steps of another kind can join it. */
const Step = z.union([TransactionStep, SignatureStep]).openapi("PreparedStep");

const SendCalls = z
  .object({
    version: z.literal("2.0.0"),
    chainId: z.string().openapi({ description: "Hex, without leading zeros.", example: "0x2105" }),
    from: Address,
    atomicRequired: z.literal(false),
    calls: z.array(
      z.object({
        to: Address,
        data: bytes("The calldata."),
        value: z.string().openapi({ description: "Wei, hex.", example: "0x0" }),
      }),
    ),
  })
  .openapi({
    description:
      "The parameter of `wallet_sendCalls` (EIP-5792): the steps with status `incomplete` that are not optional. It carries no gas limit: send a step that has `gas` as a transaction.",
  });

const reason = z.string().openapi({ example: "ERC20InsufficientAllowance(…)" });

const Simulation = z
  .union([
    z.object({ status: z.literal("ok") }),
    z.object({
      status: z.literal("reverts"),
      step: z.string().openapi({ description: "Id of the first step that reverts.", example: "buy" }),
      reason,
    }),
    z.object({ status: z.literal("unknown"), reason }),
  ])
  .openapi("PreparedSimulation", {
    description:
      "The calls of `sendCalls`, run one after the other in the state after the block (`eth_simulateV1`). `unknown`: the node could not, or there is nothing to send.",
  });

export const Prepared = z
  .object({
    action: z.enum(preparedActions),
    chainId: z.int().openapi({ description: "Chain on which to send the steps.", example: 8453 }),
    from: Address.openapi({ description: "The wallet that sends them." }),
    asOf: z
      .object({
        blockNumber: decimal("Number of the block.", "1234"),
        blockHash: BlockHash,
        timestamp: UnixSeconds,
      })
      .openapi({ description: "The block that everything was read at." }),
    validUntil: UnixSeconds.openapi({
      description:
        "Ask again after this time: ten minutes after the block, or earlier where the action ends earlier (a policy's cover, a price's hour, the last second in which a bond can be listed).",
    }),
    summary: z.string().openapi({ description: "What the action does, for the wallet's owner." }),
    issues: z
      .array(PreparedIssue)
      .openapi({ description: "What stands in its way; empty when nothing does." }),
    steps: z.array(Step).openapi({
      description:
        "What the wallet signs, in this order, transactions without nonce and fees. Empty while there is no call to make.",
    }),
    sendCalls: SendCalls,
    simulation: Simulation,
  })
  .openapi("Prepared");

export type PreparedBody = z.infer<typeof Prepared>;
export type StepBody = z.infer<typeof Step>;
export type SignatureStepBody = z.infer<typeof SignatureStep>;
export type TransactionStepBody = z.infer<typeof TransactionStep>;
export type SimulationBody = z.infer<typeof Simulation>;
export type ReportBody = z.infer<typeof Report>;
