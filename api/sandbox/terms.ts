/** What the sandbox buys. */
import { entryOf, MINIMUM_COVERAGE } from "../../lib/products.ts";

/** The coverage of every purchase of the sandbox, 6 decimals: the least that the router takes. */
export const SANDBOX_COVERAGE = MINIMUM_COVERAGE;

/** What is bought by a call that names no product. */
export const defaultProduct = entryOf("FLASHBTC1H-001");
