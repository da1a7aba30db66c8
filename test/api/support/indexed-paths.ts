/** The paths of all reads of the index, for the history with every event. */
import { productIdOf } from "../../../lib/products.ts";
import { buyers } from "../../src/support/history.ts";

const [alice] = buyers;
if (!alice) throw new Error("the history has no buyers");

/** The address of a wallet with policies and bonds. */
export const wallet = alice.address;

/** Every read of the index. */
export const paths = [
  "/api/v1/stats/burns",
  "/api/v1/stats/protocol",
  "/api/v1/stats/activity",
  "/api/v1/stats/token-price-history",
  "/api/v1/stats/cover",
  "/api/v1/stats/products",
  "/api/v1/stats/series?metric=premiums",
  "/api/v1/stats/claims",
  "/api/v1/policies/all",
  "/api/v1/policies/nearest",
  "/api/v1/stats/vault",
  "/api/v1/stats/bonds/maturities",
  "/api/v1/stats/queue",
  "/api/v1/stats/holders?epoch=202812",
  "/api/v1/stats/buyers",
  "/api/v1/stats/market",
  "/api/v1/stats/burners?from=1767225600",
  "/api/v1/stats/pauses",
  "/api/v1/stats/prices",
  "/api/v1/stats/price-history?asset=0x4254430000000000000000000000000000000000000000000000000000000000",
  "/api/v1/stats/keeper",
  `/api/v1/policies/by-buyer/${wallet}`,
  `/api/v1/bonds/by-owner/${wallet}`,
  "/api/v1/triggers/recent",
  "/api/v1/triggers/due",
  `/api/v1/triggers/${productIdOf("FLASHBTC1H-001")}/1`,
  "/api/v1/marketplace/active-listings",
  "/api/v1/marketplace/recent-sales",
  "/api/v1/marketplace/listings?sortBy=price-desc",
  "/api/v1/marketplace/listings/1",
  "/api/v1/marketplace/stats",
  "/api/v1/marketplace/history",
  "/api/v1/burns/recent",
];
