/** Buyers who buy one policy after the other, and repeat each call until it has a receipt. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ProductName } from "../../../lib/products.ts";
import type { Buyer } from "../../api/support/buyer.ts";
import type { CompletedPurchase } from "../../fault/support/assertions.ts";
import { buyWithRetries } from "../../fault/support/purchase-client.ts";
import type { Outages } from "./outages.ts";
import { createRandom } from "./random.ts";

/** Mostly the product whose policies a fall of the price makes due soonest. */
const products: readonly ProductName[] = [
  "FLASHBTC1H-001",
  "FLASHBTC1H-001",
  "FLASHBTC1H-001",
  "FLASHETH1H-001",
  "FLASHBTC24-001",
];
/** The longest time between a receipt and the next purchase. */
const PAUSE_MS = 12_000;

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

  async function call(key: string, productName: ProductName | undefined) {
    const begun = Date.now();
    const answer = await buyer.buy({ productName }, { "idempotency-key": key });
    return { answer, begun };
  }
  return async () => {
    await sleep(random(PAUSE_MS));
    const planned = { buyer: index, key: `soak-${seed}-${index}-${count}` };
    count += 1;
    const productName = products[random(products.length)];
    const callers = random(4) === 0 ? 2 : 1;
    const answers = await Promise.all(
      Array.from({ length: callers }, async () => {
        let sent = 0;
        const final = await buyWithRetries(async () => {
          const { answer, begun } = await call(planned.key, productName);
          sent = begun;
          return answer;
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
