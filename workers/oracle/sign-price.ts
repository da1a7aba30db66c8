import type { Address, Hex } from "viem";
import type { ReadClient } from "../../lib/chain/client.ts";
import type { Deployment } from "../../lib/deployments.ts";
import { errorText, type Logger } from "../../lib/log.ts";
import { type AssetSymbol, assetBytes32 } from "../../lib/products.ts";
import { within } from "../../lib/timeout.ts";
import type { PriceSigner } from "./price-signer.ts";
import { type PriceFault, priceFault, readPrice } from "./read-price.ts";

/** Longest read of the chain, in ms: a caller that came during a failing read still gets the outcome of the next one. */
const READ_MS = 1500;

/** `price` has `decimals` decimals; times are Unix seconds. */
export type SignedPrice = {
  readonly state: "signed";
  readonly price: bigint;
  readonly decimals: number;
  readonly verifiedAt: bigint;
  readonly feedUpdatedAt: bigint;
  readonly signer: Address;
  readonly signature: Hex;
};

export type PriceFailure = {
  readonly state: "failed";
  readonly code: PriceFault["code"] | "chain_not_found";
  readonly message: string;
};

export type OracleContext = {
  readonly client: ReadClient;
  readonly deployment: Pick<Deployment, "chainId" | "contracts">;
  /** The typed data's domain, without its chain id. */
  readonly oracle: NonNullable<Deployment["oracle"]>;
  readonly signer: PriceSigner;
  readonly log: Logger;
};

/** Reads an asset's price now and signs it, or says why not. Never rejects for the chain. @throws SignerFault when the signer did not sign */
export async function signPrice(
  { client, deployment, oracle, signer, log }: OracleContext,
  asset: AssetSymbol,
): Promise<SignedPrice | PriceFailure> {
  const late = () => new Error(`no answer within ${READ_MS} ms`);
  const read = within(READ_MS, readPrice(client, deployment.contracts, asset), late);
  const reading = await read.catch((error: unknown) => {
    log.warn({ err: errorText(error), asset }, "a price feed could not be read");
    return undefined;
  });
  if (!reading) {
    return {
      state: "failed",
      code: "chain_not_found",
      message: "The price feed could not be read from the chain.",
    };
  }
  const verifiedAt = BigInt(Math.floor(Date.now() / 1000));
  const fault = priceFault(reading, verifiedAt);
  if (fault) return { state: "failed", ...fault };
  const { price, decimals, updatedAt: feedUpdatedAt } = reading;
  const domain = { ...oracle, chainId: deployment.chainId };
  const signature = await signer.sign(domain, { price, asset: assetBytes32(asset), verifiedAt });
  return { state: "signed", price, decimals, verifiedAt, feedUpdatedAt, signer: signer.address, signature };
}
