/** Reports of what the seeded wallets did: each is recorded when its wallet's key sends it. */
import { bondMarketplaceAbi } from "../../../abis/BondMarketplace.ts";
import { bondVaultAbi } from "../../../abis/BondVault.ts";
import { seedAccounts } from "../../../scripts/local/seed/accounts.ts";
import type { TestChain } from "../../support/chain.ts";
import type { Body } from "./requests.ts";

/** The wallet that redeems, and the one that lists and buys. */
export const reporters = { redeemer: seedAccounts.dave.address, trader: seedAccounts.bob.address } as const;

const only = <Event>(events: readonly Event[], name: string): Event => {
  const [event] = events;
  if (!event) throw new Error(`the seeded history has no ${name}`);
  return event;
};

/** Reads the logs of the seeded history. */
export async function reportBodies({ client, deployment: { contracts } }: TestChain) {
  const { redeemer, trader } = reporters;
  const fromBlock = 0n;
  const vault = { address: contracts.bondVault, abi: bondVaultAbi, fromBlock } as const;
  const market = {
    address: contracts.marketplace,
    abi: bondMarketplaceAbi,
    fromBlock,
    strict: true,
  } as const;
  const [redemptions, listings, purchases] = await Promise.all([
    client.getContractEvents({
      ...vault,
      eventName: "BondRedeemed",
      args: { holder: redeemer },
      strict: true,
    }),
    client.getContractEvents({ ...market, eventName: "Listed" }),
    client.getContractEvents({ ...market, eventName: "Bought", args: { buyer: trader } }),
  ]);
  const redeemed = only(redemptions, "redemption");
  const listed = only(
    listings.filter(({ args }) => args.seller === trader),
    "listing",
  );
  const bought = only(purchases, "purchase");
  const { listingId, priceUSDC, buyerFee } = bought.args;
  const sold = only(
    listings.filter(({ args }) => args.listingId === listingId),
    "listing of the purchase",
  );
  return {
    redeem: {
      epochId: String(redeemed.args.epochId),
      usdAmount: String(redeemed.args.usdAmount),
      txHash: redeemed.transactionHash,
      ownerAddress: redeemer,
    },
    list: {
      epochId: String(listed.args.epochId),
      amount: String(listed.args.amount),
      totalPriceUsdc: String(listed.args.priceUSDC),
      txHash: listed.transactionHash,
      sellerAddress: trader,
    },
    buy: {
      listingId: String(listingId),
      amount: String(sold.args.amount),
      totalPaidUsdc: String(priceUSDC + buyerFee),
      txHash: bought.transactionHash,
      buyerAddress: trader,
    },
  } satisfies Record<string, Body>;
}
