/** The bond marketplace. Prices are totals in USDC, 6 decimals. */
import { encodeFunctionData, type LocalAccount } from "viem";
import { bondMarketplaceAbi } from "../../../../abis/BondMarketplace.ts";
import { claimBondAbi } from "../../../../abis/ClaimBond.ts";
import { onlyEvent, type Protocol, send } from "./protocol.ts";

/** Allows the marketplace to take bonds of the account into escrow. */
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

/** Lists bonds, which go into escrow. The marketplace must be approved. @returns the listing's id. */
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

/** Buys a whole listing. Needs a USDC allowance for the price and the buyer's fee of 1.5 %. */
export const buyListing = onListing("executeBuy");
/** The seller cancels a listing. */
export const cancelListing = onListing("cancel");
/** The owner returns a listing to its seller. */
export const emergencyCancelListing = onListing("emergencyCancel");
