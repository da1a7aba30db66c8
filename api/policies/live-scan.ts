/** A page of a wallet's policies from the contracts alone. */
import type { Address, Hex } from "viem";
import { LogScanError } from "../../lib/chain/log-scan.ts";
import type { ScanClients } from "../../lib/chain/scan-clients.ts";
import type { ChainHead } from "../chain/block.ts";
import { readPolicy } from "../chain/contracts/policy.ts";
import { readAssetPrices } from "../chain/contracts/prices.ts";
import { type Protocol, readProduct } from "../chain/contracts/products.ts";
import { isBefore, type Purchase } from "../chain/contracts/purchases.ts";
import { policyEntry, policyRecord } from "../chain/policy-body.ts";
import { cursorOf, cutPage, type FeedPage } from "../http/paging.ts";

/** One page of a wallet's policies at a block, from its purchases, the newest first. Only the page's policies are read from the contracts. */
export async function readPolicyPage(
  { reads, protocol }: { reads: ScanClients["reads"]; protocol: Protocol },
  buyer: Address,
  purchases: readonly Purchase[],
  { limit, offset, cursor }: FeedPage,
  block: ChainHead,
) {
  const remaining = cursor ? purchases.filter((purchase) => isBefore(purchase, cursor)) : purchases;
  const { rows, next } = cutPage(remaining.slice(offset, offset + limit + 1), limit, cursorOf);
  const products = [...new Set(rows.map(({ productId }) => productId))];
  const termsOf = async (id: Hex) => [id, await readProduct(reads, protocol, id, block.number)] as const;
  const read = async (purchase: Purchase) => {
    const policy = await readPolicy(reads, protocol, purchase, block.number);
    if (policy) return { purchase, policy };
    throw new LogScanError(`the node has the log of ${purchase.txHash} but not its policy`);
  };
  const [terms, prices, found] = await Promise.all([
    Promise.all(products.map(termsOf)),
    readAssetPrices(reads, protocol.contracts, block.number),
    Promise.all(rows.map(read)),
  ]);
  const known = new Map(terms);
  const policies = found.map(({ policy, purchase }) => {
    const record = policyRecord(policy, known.get(purchase.productId), prices);
    return policyEntry(record, purchase, { source: "chain", ...block });
  });
  const total = purchases.length;
  return { buyer, count: policies.length, total, limit, offset, nextCursor: next, policies };
}
