import { z } from "@hono/zod-openapi";
import {
  Address,
  Bytes32,
  bytes32Input,
  DecimalString,
  Timestamp,
  uint256Input,
} from "../http/field-types.ts";
import { defaultProduct } from "./terms.ts";

const usdc = (description: string, example: string) =>
  DecimalString.openapi({ description: `${description} USDC base units (6 decimals).`, example });

const address = z.string().regex(/^0x[a-fA-F0-9]{40}$/);
const chainId = z.int().openapi({ description: "The testnet's.", example: 84532 });

export const SandboxInfo = z
  .object({
    ok: z.literal(true),
    enabled: z.boolean().openapi({ description: "False where there is no sandbox, or it was stopped." }),
    status: z.enum(["ready", "unready", "disabled"]).openapi({
      description:
        "Whether `POST /sandbox/try` can buy now; `unready` while the wallet lacks funds or approval, or no writer is at work: that mends itself.",
    }),
    reason: z.string().nullable().openapi({
      description:
        "Why it cannot buy, or what is wrong with the wallet's upkeep while it still can; null when all is well.",
      example: null,
    }),
    chainId: chainId.nullable().openapi({ description: "The testnet's; null where there is none." }),
    sandboxWallet: address.nullable().openapi({
      description:
        "The shared wallet that pays the premiums and owns the policies; null where there is none.",
      example: "0xBcd4042DE499D14e55001CcbB24a551F3b954096",
    }),
    coverageCapUsdc: usdc("The coverage of every sandbox purchase.", "100000000"),
    asset: z
      .object({ symbol: z.string().openapi({ example: "BTC" }), bytes32: Bytes32 })
      .openapi({ description: "Of the default product." }),
    defaultProductId: Bytes32.openapi({ description: "What a call buys that names no product." }),
    defaultProductName: z.string().openapi({ example: defaultProduct.name }),
    rateLimit: z
      .object({ perIp: z.int().openapi({ example: 10 }), windowSeconds: z.int().openapi({ example: 3600 }) })
      .openapi({ description: "Calls of `POST /sandbox/try` that a client address may make." }),
    funds: z
      .object({
        usdc: usdc("The wallet's balance.", "100000000000"),
        allowance: usdc("What the cover router may take of it.", "100000000000"),
        eth: DecimalString.openapi({ description: "Its ether, in wei.", example: "10000000000000000" }),
        checkedAt: Timestamp,
      })
      .nullable()
      .openapi({
        description: "What the writer last found in the wallet; null before it has looked.",
      }),
    docs: z
      .string()
      .openapi({ description: "Where this is described.", example: "http://127.0.0.1:8080/api-docs" }),
  })
  .openapi("SandboxInfo");

export type SandboxInfoBody = z.infer<typeof SandboxInfo>;

export const SandboxRequest = z
  .object({
    productId: bytes32Input.optional().openapi({
      description: "The product; where `productName` is given too they must agree.",
    }),
    productName: z.string().optional().openapi({
      description: "One of the six names; the default product where neither is given.",
      example: "FLASHETH24-001",
    }),
    coverageAmount: uint256Input.optional().openapi({
      description: "Checked and otherwise ignored: the coverage is always that of `GET /sandbox/info`.",
      example: "100000000",
    }),
  })
  .openapi("SandboxRequest", { example: { productName: "FLASHETH24-001" } });

export type SandboxRequest = z.output<typeof SandboxRequest>;

export const SandboxPurchase = z
  .object({
    ok: z.literal(true),
    sandbox: z.literal(true),
    chainId,
    policyId: DecimalString.openapi({ description: "Counts per product.", example: "1" }),
    productId: Bytes32,
    buyer: Address.openapi({ description: "The sandbox's wallet." }),
    coverageAmount: usdc("Always the same.", "100000000"),
    premiumPaid: usdc("What the wallet paid.", "292000"),
    txHash: Bytes32,
    blockNumber: z.int().openapi({ example: 1234 }),
    blockExplorer: z.string().openapi({
      description: "Where the transaction can be seen; on a chain without an explorer, this API.",
      example: `http://127.0.0.1:8080/sandbox/transactions/${defaultProduct.productId}`,
    }),
  })
  .openapi("SandboxPurchase");

export type SandboxPurchaseBody = z.infer<typeof SandboxPurchase>;

export const SandboxTransaction = z
  .object({
    chainId,
    txHash: Bytes32,
    status: z.enum(["success", "reverted"]),
    blockNumber: z.int().openapi({ example: 1234 }),
    blockHash: Bytes32,
    from: Address,
    to: address.nullable().openapi({ description: "Null for the creation of a contract." }),
    gasUsed: DecimalString.openapi({ example: "350000" }),
    policies: z
      .array(
        z.object({
          productId: Bytes32,
          productName: z.string().nullable().openapi({
            description: "Null for a product that is not of this release.",
            example: defaultProduct.name,
          }),
          policyId: DecimalString.openapi({ description: "Counts per product.", example: "1" }),
          buyer: Address,
          coverageAmount: usdc("Coverage.", "100000000"),
          premiumPaid: usdc("Premium.", "292000"),
          payoutAmount: usdc("Paid out as bonds when triggered.", "80000000"),
        }),
      )
      .openapi({ description: "What the transaction has bought of the testnet's cover router." }),
  })
  .openapi("SandboxTransaction");

export type SandboxTransactionBody = z.infer<typeof SandboxTransaction>;
