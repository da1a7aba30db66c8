/** The bond marketplace. Prices are totals in USDC, 6 decimals. */
import { encodeFunctionData, type LocalAccount } from "viem";
import { bondMarketplaceAbi } from "../../../../abis/BondMarketplace.ts";
import { buybackEngineAbi } from "../../../../abis/BuybackEngine.ts";
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

const onListing = (functionName: "executeBuy" | "cancel") => {
  return (protocol: Protocol, account: LocalAccount, listingId: bigint) =>
    send(
      protocol,
      account,
      protocol.deployment.contracts.marketplace,
      encodeFunctionData({ abi: bondMarketplaceAbi, functionName, args: [listingId] }),
    );
};

/** Buys a whole listing. Needs a USDC allowance for the price and the buyer's fee. The seller is credited. */
export const buyListing = onListing("executeBuy");
/** The seller cancels a listing. */
export const cancelListing = onListing("cancel");

/** A seller takes all that sales have credited. */
export const withdrawProceeds = (protocol: Protocol, seller: LocalAccount) =>
  send(
    protocol,
    seller,
    protocol.deployment.contracts.marketplace,
    encodeFunctionData({ abi: bondMarketplaceAbi, functionName: "withdraw" }),
  );

/** The owner sets the lowest total price of a listing. */
export const setMinimumListingPrice = (protocol: Protocol, owner: LocalAccount, price: bigint) =>
  send(
    protocol,
    owner,
    protocol.deployment.contracts.marketplace,
    encodeFunctionData({ abi: bondMarketplaceAbi, functionName: "setMinPricePerUnit", args: [price] }),
  );

/** The buyback operator buys a listing with the engine's USDC, burns its bonds and tokens of the vault's reserve. */
export const buyBack = (protocol: Protocol, operator: LocalAccount, listingId: bigint) =>
  send(
    protocol,
    operator,
    protocol.deployment.contracts.buybackEngine,
    encodeFunctionData({ abi: buybackEngineAbi, functionName: "executeOffer", args: [listingId] }),
  );
