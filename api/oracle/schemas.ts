import { z } from "@hono/zod-openapi";
import { assetSymbols } from "../../lib/products.ts";
import { Address, CoveredAsset, DecimalString } from "../http/field-types.ts";
import { requestObject } from "../http/request-object.ts";

const unixSeconds = (description: string) =>
  z.int().openapi({ description: `${description}, Unix seconds.`, example: 1767225600 });

export const SignProofRequest = requestObject({
  asset: z.enum(assetSymbols).openapi({ description: "The asset to price.", example: "BTC" }),
}).openapi("SignProofRequest");

export const PriceProof = z
  .object({
    asset: z.enum(assetSymbols).openapi({ example: "BTC" }),
    assetBytes32: CoveredAsset,
    price: DecimalString.openapi({
      description: "USD, with `decimals` decimals, as the feed has it.",
      example: "6000000000000",
    }),
    decimals: z.int().openapi({ description: "Decimals of `price`.", example: 8 }),
    verifiedAt: unixSeconds("When the writer read and signed the price"),
    feedUpdatedAt: unixSeconds("The feed's last update"),
    signer: Address,
    signature: z
      .string()
      .regex(/^0x[0-9a-f]{130}$/)
      .openapi({
        description:
          "EIP-712 signature of `PriceProof(int256 price,bytes32 asset,uint256 verifiedAt)`, with `assetBytes32` as the asset: 65 bytes r, s, v.",
        example:
          "0x9de736326fb0fb1bf2475f000b9a2d54cf1a3cbfe7c7563a808cf83e94f0ec254e14b9884827b365f18ac99e892ba0d00f7377a62fb1746e28be43cc444e64641b",
      }),
  })
  .openapi("PriceProof");

export type PriceProofBody = z.infer<typeof PriceProof>;

export const OracleSigner = z
  .object({
    signer: Address,
    domain: z
      .object({
        name: z.string().openapi({ example: "PriceProofVerifier" }),
        version: z.string().openapi({ example: "1" }),
        chainId: z.int().openapi({ example: 8453 }),
        verifyingContract: Address.openapi({
          description: "The contract that checks proofs.",
          example: "0xb7278A61aa25c888815aFC32Ad3cC52fF24fE575",
        }),
      })
      .openapi({ description: "The EIP-712 domain of the proofs." }),
  })
  .openapi("OracleSigner");
