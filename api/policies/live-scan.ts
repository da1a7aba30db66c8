/** A wallet's policies from the chain alone: purchases from a scan of the logs, and one page of policies from the contracts. */
import type { Address, Hex } from "viem";
import { type BlockRange, type LogScan, LogScanError } from "../../lib/chain/log-scan.ts";
import type { ScanClients } from "../../lib/chain/scan-clients.ts";
import type { Contracts } from "../../lib/deployments.ts";
import { entryById } from "../../lib/products.ts";
import type { ChainHead } from "../chain/block.ts";
import { readPolicy } from "../chain/contracts/policy.ts";
import { readAssetPrices } from "../chain/contracts/prices.ts";
import { readProduct } from "../chain/contracts/products.ts";
import { isBefore, type Purchase, scanProductNames, scanPurchases } from "../chain/contracts/purchases.ts";
import { policyEntry } from "../chain/policy-body.ts";
import { cursorOf, cutPage, type FeedPage } from "../http/paging.ts";

export type ScannedPurchases = {
  /** Newest first. */
  readonly purchases: readonly Purchase[];
  /** Names of their products, where the catalogue or the chain has them. */
  readonly names: ReadonlyMap<Hex, string>;
};

/** Makes the scan for a wallet's purchases. Names are kept between scans: an id is its name's hash. */
export function createPurchaseScan(contracts: () => Contracts) {
  const known = new Map<Hex, string>();
  const nameOf = (id: Hex) => entryById(id)?.name ?? known.get(id);
  return async (scan: LogScan, wallet: Address, range: BlockRange): Promise<ScannedPurchases> => {
    const purchases = await scanPurchases(scan, contracts(), wallet, range);
    const products = [...new Set(purchases.map(({ productId }) => productId))];
    const unknown = products.filter((id) => nameOf(id) === undefined);
    if (unknown.length > 0) {
      for (const [id, name] of await scanProductNames(scan, contracts(), unknown, range)) known.set(id, name);
    }
    const names = products.flatMap((id) => {
      const name = nameOf(id);
      return name === undefined ? [] : [[id, name] as const];
    });
    return { purchases, names: new Map(names) };
  };
}

/** One page of a wallet's policies at a block. Only the page's policies are read from the contracts. */
export async function readPolicyPage(
  { reads, contracts }: { reads: ScanClients["reads"]; contracts: Contracts },
  buyer: Address,
  { purchases, names }: ScannedPurchases,
  { limit, offset, cursor }: FeedPage,
  block: ChainHead,
) {
  const remaining = cursor ? purchases.filter((purchase) => isBefore(purchase, cursor)) : purchases;
  const { rows, next } = cutPage(remaining.slice(offset, offset + limit + 1), limit, cursorOf);
  const products = [...new Set(rows.map(({ productId }) => productId))];
  const termsOf = async (id: Hex) => [id, await readProduct(reads, contracts, id, block.number)] as const;
  const read = async (purchase: Purchase) => {
    const policy = await readPolicy(reads, contracts, purchase, block.number);
    if (policy) return { purchase, policy };
    throw new LogScanError(`the node has the log of ${purchase.txHash} but not its policy`);
  };
  const [terms, prices, found] = await Promise.all([
    Promise.all(products.map(termsOf)),
    readAssetPrices(reads, contracts, block.number),
    Promise.all(rows.map(read)),
  ]);
  const known = new Map(terms);
  const policies = found.map(({ policy, purchase }) => {
    const { productId } = purchase;
    const productName = names.get(productId) ?? null;
    const product = known.get(productId);
    const productActive = product?.active === true;
    const current = prices.get(product?.asset) ?? null;
    const record = { ...policy, productName, productActive, current, due: null };
    return policyEntry(record, purchase, { source: "chain", ...block });
  });
  const total = purchases.length;
  return { buyer, count: policies.length, total, limit, offset, nextCursor: next, policies };
}
