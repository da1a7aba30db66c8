/** The holder of bonds lists them, another wallet buys the listing, both report it, and the seller withdraws the price. */
import { z } from "zod";
import type { Wallet } from "../dev/running-stack.ts";
import { mintUsdc, printChange } from "./chain.ts";
import type { DemoStack } from "./demo-stack.ts";
import { type Auth, withKey } from "./keys.ts";
import { missingUsdc, prepare, reportSent, sendSteps } from "./prepared.ts";
import type { Bond } from "./price-fall.ts";

/** Price of a bond of one dollar, USDC with 6 decimals: it is two years from its payment. */
const unitPrice = 750_000n;

const reported = z.object({ listingId: z.string() });
const executed = z.object({ status: z.literal("executed"), totalPriceUsdc: z.string() });

/** Lists all of these bonds. @returns the id of the listing */
async function list({ api, contracts }: DemoStack, seller: Wallet, auth: Auth, bond: Bond): Promise<string> {
  const before = await seller.getBlockNumber();
  const prepared = await prepare(api, seller, "/api/v1/marketplace/list/prepare", {
    epochId: String(bond.epochId),
    amount: String(bond.amount),
    totalPriceUsdc: String(bond.amount * unitPrice),
  });
  const { listingId } = await reportSent(api, auth, await sendSteps(seller, prepared), reported);
  await printChange(seller, contracts, bond.epochId, before);
  return listingId;
}

/** Buys a listing; the wallet mints the USDC that it lacks, fee included. */
async function buy({ api, contracts }: DemoStack, buyer: Wallet, auth: Auth, listingId: string, bond: Bond) {
  const path = "/api/v1/marketplace/buy/prepare";
  let prepared = await prepare(api, buyer, path, { listingId });
  const missing = missingUsdc(prepared);
  if (missing > 0n) {
    await mintUsdc(buyer, contracts, missing);
    prepared = await prepare(api, buyer, path, { listingId });
  }
  const before = await buyer.getBlockNumber();
  await reportSent(api, auth, await sendSteps(buyer, prepared), reported);
  await printChange(buyer, contracts, bond.epochId, before);
}

/** Takes what the marketplace has credited to the seller. */
async function withdraw({ api, contracts }: DemoStack, seller: Wallet, bond: Bond): Promise<void> {
  const before = await seller.getBlockNumber();
  await sendSteps(seller, await prepare(api, seller, "/api/v1/marketplace/withdraw/prepare", {}));
  await printChange(seller, contracts, bond.epochId, before);
}

/** Sells bonds from one wallet to another. @throws when a response or the chain is not as expected */
export async function sellBond(
  demo: DemoStack,
  seller: Wallet,
  sellerAuth: Auth,
  buyer: Wallet,
  bond: Bond,
): Promise<void> {
  const { api, adminToken } = demo;
  const listingId = await list(demo, seller, sellerAuth, bond);
  await withKey(api, adminToken, buyer.account.address, (auth) => buy(demo, buyer, auth, listingId, bond));
  await withdraw(demo, seller, bond);

  await api.readOnce(`/api/v1/marketplace/listings/${listingId}`, executed, "the index to have the sale");
  console.log(`\n✓ ${bond.amount} bonds of ${bond.epochId} are sold: ${buyer.account.address} has them now.`);
}
