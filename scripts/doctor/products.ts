/** Compares the catalogue with the contracts: what has no getter must belong to the products that are deployed. */
import { type Hex, hexToString, zeroAddress, zeroHash } from "viem";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { flashShieldAbi } from "../../abis/FlashShield.ts";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import { shieldAdapterAbi } from "../../abis/ShieldAdapter.ts";
import { errorText } from "../../lib/log.ts";
import { type CatalogueEntry, catalogueOf } from "../../lib/products.ts";
import type { ReachedChain } from "./chain.ts";
import { type Finding, findingsOf } from "./finding.ts";

/** An asset as text, or the bytes of one that is none. */
const assetText = (asset: Hex): string => hexToString(asset, { size: 32 }).replace(/\0+$/, "") || asset;

/** A product's window and asset in the contracts; undefined for one that router or manager lack. */
async function readProduct(
  { client, deployment: { contracts } }: ReachedChain,
  { productId }: CatalogueEntry,
): Promise<{ durationSeconds: number; asset: Hex } | undefined> {
  const args = [productId] as const;
  const { coverRouter, policyManager } = contracts;
  const [config, adapter] = await Promise.all([
    client.readContract({
      address: coverRouter,
      abi: coverRouterAbi,
      functionName: "getProductConfig",
      args,
    }),
    client.readContract({
      address: policyManager,
      abi: policyManagerAbi,
      functionName: "productShield",
      args,
    }),
  ]);
  if (config.productId === zeroHash || adapter === zeroAddress) return undefined;
  const shield = await client.readContract({
    address: adapter,
    abi: shieldAdapterAbi,
    functionName: "shield",
  });
  const asset = await client.readContract({ address: shield, abi: flashShieldAbi, functionName: "asset" });
  return { durationSeconds: config.durationSeconds, asset };
}

/** Checks the catalogue's products. Never rejects. */
export async function examineProducts(chain: ReachedChain): Promise<Finding[]> {
  const { prefix, deployment } = chain;
  const { ok, warning, fault } = findingsOf(prefix === "" ? "chain" : "testnet");
  const products = catalogueOf(deployment);
  const remedy = `correct the product in lib/products.ts, or in "products" of ${prefix}DEPLOYMENT_FILE`;
  const examined = products.map(async (entry): Promise<Finding[]> => {
    const { name, durationSeconds, symbol, asset } = entry;
    try {
      const actual = await readProduct(chain, entry);
      if (!actual) return [warning(`the contracts have no product ${name}: nobody can buy it`, remedy)];
      const different = [
        actual.durationSeconds === durationSeconds
          ? []
          : [`lasts ${actual.durationSeconds} seconds, not ${durationSeconds}`],
        actual.asset === asset ? [] : [`covers ${assetText(actual.asset)}, not ${symbol}`],
      ].flat();
      return different.map((text) => fault(`${name} ${text}`, remedy));
    } catch (error) {
      const text = `${name} cannot be read from router, manager and shield: ${errorText(error)}`;
      return [fault(text, `correct coverRouter and policyManager in ${prefix}DEPLOYMENT_FILE`)];
    }
  });
  const findings = (await Promise.all(examined)).flat();
  return findings.length > 0 ? findings : [ok(`all ${products.length} products are those of the catalogue`)];
}
