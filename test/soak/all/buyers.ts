/** Buyers who buy one policy after the other, and repeat each call until it has a receipt. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ProductName } from "../../../lib/products.ts";
import type { Buyer } from "../../api/support/buyer.ts";
import type { CompletedPurchase } from "../../fault/support/assertions.ts";
import { buyWithRetries } from "../../fault/support/purchase-client.ts";
import { usdc } from "../../support/ledger.ts";
import type { Outages } from "./outages.ts";
import { createRandom } from "./random.ts";
import { BUYERS } from "./world.ts";

/** Each purchase draws one of these products. The first is there three times: its policies become due at the smallest fall. */
const products: readonly ProductName[] = [
  "FLASHBTC1H-001",
  "FLASHBTC1H-001",
  "FLASHBTC1H-001",
  "FLASHETH1H-001",
  "FLASHBTC24-001",
];
/** The longest time between a receipt and the next purchase. */
const PAUSE_MS = 12_000;
/**
 * In dollars. Each policy has another payout for a while, because a batch of the keeper mints the bonds of several in one
 * transaction, and only their amounts tell those events apart.
 */
const coverageOf = (buyer: number, count: number) => 100 + 5 * ((BUYERS * count + buyer) % 400);

/** One buyer's step: a pause, and a purchase by one or two simultaneous callers. */
export function createBuying(
  buyer: Buyer,
  index: number,
  { seed, outages, purchases }: { seed: number; outages: Outages; purchases: CompletedPurchase[] },
): () => Promise<void> {
  const random = createRandom(seed + index);
  // One waits as the API says, the others do not.
  const pace = index === 0 ? "guided" : "impatient";
  let count = 0;

  return async () => {
    await sleep(random(PAUSE_MS));
    const planned = { buyer: index, key: `soak-${seed}-${index}-${count}` };
    const coverageAmount = String(usdc(coverageOf(index, count)));
    count += 1;
    const body = { productName: products[random(products.length)], coverageAmount };
    const callers = random(4) === 0 ? 2 : 1;
    const answers = await Promise.all(
      Array.from({ length: callers }, async () => {
        let sent = 0;
        const final = await buyWithRetries(() => {
          sent = Date.now();
          return buyer.buy(body, { "idempotency-key": planned.key });
        }, pace).catch((cause: unknown) => {
          throw new Error(`${planned.key}: ${String(cause)}`, { cause });
        });
        outages.note({ what: "purchase", begun: sent, block: BigInt(final.receipt.blockNumber) });
        return final;
      }),
    );
    purchases.push({ planned, answers });
  };
}
