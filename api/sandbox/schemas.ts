import { z } from "@hono/zod-openapi";
import {
  Address,
  BlockHash,
  Bytes32,
  CoveredAsset,
  DecimalString,
  Timestamp,
  TxHash,
  uint256Input,
} from "../http/field-types.ts";
import { productInput } from "../http/product-input.ts";
import { requestObject } from "../http/request-object.ts";
import { defaultProduct } from "./terms.ts";

const usdc = (description: string, example: string) =>
  DecimalString.openapi({ description: `${description} USDC base units (6 decimals).`, example });

const address = z.string().regex(/^0x[a-fA-F0-9]{40}$/);
const chainId = z.int().openapi({ description: "Chain id of the testnet.", example: 84532 });

export const SandboxInfo = z
  .object({
    ok: z.literal(true),
    enabled: z
      .boolean()
      .openapi({ description: "False if there is no sandbox, or the operator has stopped it." }),
    status: z.enum(["ready", "unready", "disabled"]).openapi({
      description:
        "Whether `POST /sandbox/try` can buy now. `unready`: the wallet lacks funds or an approval, or no writer is running; the service recovers by itself.",
    }),
    reason: z.string().nullable().openapi({
      description: "Why the sandbox cannot buy, or why its wallet cannot be refilled; null otherwise.",
      example: null,
    }),
    chainId: chainId.nullable().openapi({ description: "Chain id of the testnet; null without one." }),
    sandboxWallet: address.nullable().openapi({
      description: "The shared wallet that pays the premiums and owns the policies; null without one.",
      example: "0xBcd4042DE499D14e55001CcbB24a551F3b954096",
    }),
    coverageCapUsdc: usdc("The coverage of every sandbox purchase.", "100000000"),
    asset: z
      .object({ symbol: z.string().openapi({ example: "BTC" }), bytes32: CoveredAsset })
      .openapi({ description: "Asset of the default product." }),
    defaultProductId: Bytes32.openapi({ description: "Product of a call without a product." }),
    defaultProductName: z.string().openapi({ example: defaultProduct.name }),
    rateLimit: z
      .object({ perIp: z.int().openapi({ example: 10 }), windowSeconds: z.int().openapi({ example: 3600 }) })
      .openapi({ description: "Limit of `POST /sandbox/try` per client address." }),
    funds: z
      .object({
        usdc: usdc("The wallet's balance.", "100000000000"),
        allowance: usdc("Allowance to the cover router.", "100000000000"),
        eth: DecimalString.openapi({
          description: "The wallet's ether, in wei.",
          example: "10000000000000000",
        }),
        checkedAt: Timestamp,
      })
      .nullable()
      .openapi({
        description: "The wallet's funds when the writer last checked; null before the first check.",
      }),
    docs: z.string().openapi({
      description: "URL of this description.",
      example: "http://127.0.0.1:8080/api-docs#tag/sandbox",
    }),
  })
  .openapi("SandboxInfo");

export type SandboxInfoBody = z.infer<typeof SandboxInfo>;

export const SandboxRequest = requestObject({
  productId: productInput.optional().openapi({
    description: "Id of the product; if `productName` is given too, they must agree.",
  }),
  productName: z.string().optional().openapi({
    description: "One of the six names. A call without name and id buys the default product.",
    example: "FLASHETH24-001",
  }),
  coverageAmount: uint256Input.optional().openapi({
    description:
      "Validated and otherwise ignored: the coverage is always `coverageCapUsdc` of `GET /sandbox/info`.",
    example: "100000000",
  }),
}).openapi("SandboxRequest", { example: { productName: "FLASHETH24-001" } });

export type SandboxRequest = z.output<typeof SandboxRequest>;

export const SandboxPurchase = z
  .object({
    ok: z.literal(true),
    sandbox: z.literal(true),
    chainId,
    policyId: DecimalString.openapi({ description: "Numbered per product.", example: "1" }),
    productId: Bytes32,
    buyer: Address.openapi({ description: "The sandbox's wallet." }),
    coverageAmount: usdc("Always the same coverage.", "100000000"),
    premiumPaid: usdc("Premium that the wallet paid.", "292000"),
    txHash: TxHash,
    blockNumber: z.int().openapi({ example: 1234 }),
    policyUrl: z.string().openapi({
      description: "URL of the policy in this API.",
      example:
        "http://127.0.0.1:8080/sandbox/policies/0xe87625ef7415a58c92f2639b16d176521429aac002386dddf1e47e419dfeaddd/1",
    }),
    blockExplorer: z.string().openapi({
      description: "URL of the transaction in an explorer, or in this API for a chain without one.",
      example:
        "http://127.0.0.1:8080/sandbox/transactions/0x11d4e91109555c451561651092cd0c0c91aa5c305201bfde1f040f1273048465",
    }),
  })
  .openapi("SandboxPurchase");

export type SandboxPurchaseBody = z.infer<typeof SandboxPurchase>;

export const SandboxTransaction = z
  .object({
    chainId,
    txHash: TxHash,
    status: z.enum(["success", "reverted"]),
    blockNumber: z.int().openapi({ example: 1234 }),
    blockHash: BlockHash,
    from: Address,
    to: address.nullable().openapi({
      description: "Null for a contract creation.",
      example: "0xA51c1fc2f0D1a1b8494Ed1FE312d7C3a78Ed91C0",
    }),
    gasUsed: DecimalString.openapi({ example: "350000" }),
    policies: z
      .array(
        z.object({
          productId: Bytes32,
          productName: z.string().nullable().openapi({
            description: "Null for a product of another release.",
            example: defaultProduct.name,
          }),
          policyId: DecimalString.openapi({ description: "Numbered per product.", example: "1" }),
          buyer: Address,
          coverageAmount: usdc("Coverage.", "100000000"),
          premiumPaid: usdc("Premium.", "292000"),
          payoutAmount: usdc("Payout in bonds when triggered.", "80000000"),
        }),
      )
      .openapi({ description: "Policies bought from the testnet's cover router." }),
  })
  .openapi("SandboxTransaction");

export type SandboxTransactionBody = z.infer<typeof SandboxTransaction>;
