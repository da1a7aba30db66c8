/** The sandbox's purchases. */
import { catalogueEntry, MINIMUM_COVERAGE } from "../../lib/products.ts";

/** The coverage of every sandbox purchase, 6 decimals: the router's minimum. */
export const SANDBOX_COVERAGE = MINIMUM_COVERAGE;

/** The product of a call without a product. */
export const defaultProduct = catalogueEntry("FLASHBTC1H-001");
