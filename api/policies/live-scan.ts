/** A page of a wallet's policies from the contracts alone. */
import { type Address, type Hex, isAddressEqual } from "viem";
import { LogScanError } from "../../lib/chain/log-scan.ts";
import type { ChainHead } from "../chain/block.ts";
import { type ChainPolicy, readPolicy } from "../chain/contracts/policy.ts";
import { readAssetPrices } from "../chain/contracts/prices.ts";
import { type Protocol, readProduct } from "../chain/contracts/products.ts";
import { isBefore, isSameKey, type Purchase } from "../chain/contracts/purchases.ts";
import { readReplacedPolicy, scanTriggered } from "../chain/contracts/replaced-policy.ts";
import type { LiveScans } from "../chain/live-scans.ts";
import { policyEntry, policyRecord } from "../chain/policy-body.ts";
import { cursorOf, cutPage, type FeedPage } from "../http/paging.ts";

type PageReads = Pick<LiveScans, "reads" | "logScan"> & { readonly protocol: Protocol };
type FoundPolicy = { readonly purchase: Purchase; readonly policy: ChainPolicy; readonly replaced: boolean };

/** The policies of a page's purchases. The manager's record is of a key's newest purchase, whoever made it. */
async function readPolicies(
  { reads, logScan, protocol }: PageReads,
  buyer: Address,
  { all, page }: Readonly<Record<"all" | "page", readonly Purchase[]>>,
  block: bigint,
): Promise<FoundPolicy[]> {
  const recorded = await Promise.all(
    page.map(async (purchase) => {
      const policy = await readPolicy(reads, protocol, purchase, block);
      if (!policy) throw new LogScanError(`the node has the log of ${purchase.txHash} but not its policy`);
      const isNewest = all.find(isSameKey(purchase)) === purchase;
      return isNewest && isAddressEqual(policy.buyer, buyer) ? policy : undefined;
    }),
  );
  const older = page.filter((_, index) => !recorded[index]);
  const triggered = await scanTriggered(logScan(), protocol.contracts, older, block);
  return Promise.all(
    page.map(async (purchase, index) => {
      const policy = recorded[index];
      if (policy) return { purchase, policy, replaced: false };
      const replaced = await readReplacedPolicy(reads, protocol, buyer, purchase, triggered.has(purchase));
      return { purchase, policy: replaced, replaced: true };
    }),
  );
}

/**
 * One page of a wallet's policies at a block, from its purchases, the newest first. Only the page's policies are read from the
 * contracts.
 */
export async function readPolicyPage(
  scans: PageReads,
  buyer: Address,
  purchases: readonly Purchase[],
  { limit, offset, cursor }: FeedPage,
  block: ChainHead,
) {
  const { reads, protocol } = scans;
  const remaining = cursor ? purchases.filter((purchase) => isBefore(purchase, cursor)) : purchases;
  const { rows, next } = cutPage(remaining.slice(offset, offset + limit + 1), limit, cursorOf);
  const products = [...new Set(rows.map(({ productId }) => productId))];
  const termsOf = async (id: Hex) => [id, await readProduct(reads, protocol, id, block.number)] as const;
  const [terms, prices, found] = await Promise.all([
    Promise.all(products.map(termsOf)),
    readAssetPrices(reads, protocol.contracts, block.number),
    readPolicies(scans, buyer, { all: purchases, page: rows }, block.number),
  ]);
  const known = new Map(terms);
  const policies = found.map(({ policy, purchase, replaced }) => {
    const record = { ...policyRecord(policy, known.get(purchase.productId), prices), replaced };
    return policyEntry(record, purchase, { source: "chain", ...block });
  });
  const total = purchases.length;
  return { buyer, count: policies.length, total, limit, offset, nextCursor: next, policies };
}
