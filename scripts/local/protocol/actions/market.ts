/** The bond marketplace. Prices are totals in USDC, 6 decimals. */
import { encodeFunctionData, type LocalAccount } from "viem";
import { bondMarketplaceAbi } from "../../../../abis/BondMarketplace.ts";
import { claimBondAbi } from "../../../../abis/ClaimBond.ts";
import { onlyEvent, type Protocol, send } from "./protocol.ts";

/** Lets the marketplace take bonds of the account into escrow. */
export const approveMarketplace = (protocol: Protocol, account: LocalAccount) =>
  send(
    protocol,
    account,
    protocol.deployment.contracts.claimBond,
    encodeFunctionData({
      abi: claimBondAbi,
      functionName: "setApprovalForAll",
      args: [protocol.deployment.contracts.marketplace, true],
    }),
  );

/** Lists bonds, which go into escrow; the marketplace must be approved. Returns the listing's id. */
export async function listBond(
  protocol: Protocol,
  seller: LocalAccount,
  epochId: bigint,
  amount: bigint,
  price: bigint,
): Promise<bigint> {
  const receipt = await send(
    protocol,
    seller,
    protocol.deployment.contracts.marketplace,
    encodeFunctionData({ abi: bondMarketplaceAbi, functionName: "list", args: [epochId, amount, price] }),
  );
  return onlyEvent(receipt, bondMarketplaceAbi, "Listed").args.listingId;
}

const onListing = (functionName: "executeBuy" | "cancel" | "emergencyCancel") => {
  return (protocol: Protocol, account: LocalAccount, listingId: bigint) =>
    send(
      protocol,
      account,
      protocol.deployment.contracts.marketplace,
      encodeFunctionData({ abi: bondMarketplaceAbi, functionName, args: [listingId] }),
    );
};

/** Buys a whole listing; the marketplace must be allowed the price and the buyer's fee of 1.5 % in USDC. */
export const buyListing = onListing("executeBuy");
/** The seller takes a listing back. */
export const cancelListing = onListing("cancel");
/** The owner gives a listing back to its seller. */
export const emergencyCancelListing = onListing("emergencyCancel");
