/** Prices that rise, and fall so far that policies become due, and a burn now and then. */
import { setTimeout as sleep } from "node:timers/promises";
import type { AssetSymbol } from "../../../lib/products.ts";
import * as act from "../../support/protocol-actions.ts";
import { createRandom } from "./random.ts";
import type { SoakWorld } from "./world.ts";

/** USD with 8 decimals. */
const base: Readonly<Record<AssetSymbol, bigint>> = { BTC: 60_000_00000000n, ETH: 3_000_00000000n };
const symbols = ["BTC", "BTC", "ETH"] as const;
/** In percent: the first triggers the hour's cover of BTC alone, the last that of a day too. */
const falls = [3n, 5n, 10n] as const;
/** A fall of less than three rounds makes nothing due. */
const rounds = [3, 3, 3, 2, 4] as const;
const PAUSE_MS = 4_000;

/** One step: a pause, then a round near the usual price, a fall and the recovery from it, or a burn. */
export function createPrices(
  { protocol, chain }: Pick<SoakWorld, "protocol" | "chain">,
  seed: number,
): () => Promise<void> {
  const random = createRandom(seed ^ 0x5eed);
  const { owner } = chain;
  const push = (symbol: AssetSymbol, price: bigint) => act.pushPrice(protocol, owner, symbol, price);
  async function step(): Promise<void> {
    const symbol = symbols[random(symbols.length)] ?? "BTC";
    const usual = base[symbol];
    const choice = random(8);
    if (choice === 0) {
      await act.burnTokens(protocol, owner, BigInt(1 + random(1_000_000)));
    } else if (choice <= 2) {
      const low = (usual * (100n - (falls[random(falls.length)] ?? 0n))) / 100n;
      const count = rounds[random(rounds.length)] ?? 3;
      for (let n = 0; n < count; n += 1) await push(symbol, low);
      await push(symbol, usual);
    } else {
      await push(symbol, (usual * BigInt(9_950 + random(100))) / 10_000n);
    }
  }
  return async () => {
    await sleep(1_000 + random(PAUSE_MS));
    // The node may be dead.
    await step().catch(() => {});
  };
}
