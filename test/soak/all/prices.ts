/** Prices that move, dip for a few blocks, and fall for minutes, so that policies are paid; and a burn now and then. */
import { setTimeout as sleep } from "node:timers/promises";
import { DWELL } from "../../../lib/price-rules.ts";
import type { AssetSymbol } from "../../../lib/products.ts";
import * as act from "../../support/protocol-actions.ts";
import { createRandom } from "./random.ts";
import type { SoakWorld } from "./world.ts";

/** USD with 8 decimals. */
const base: Readonly<Record<AssetSymbol, bigint>> = { BTC: 60_000_00000000n, ETH: 3_000_00000000n };
const symbols = ["BTC", "BTC", "ETH"] as const;
/** In percent: the first pays the hour's cover of BTC alone, the last that of a day too. */
const depths = [3n, 5n, 10n] as const;
/** Blocks of a dip: a policy becomes due in it, but is not observed three times. */
const DIP_ROUNDS = 4;
/** Three observations, a minute apart, and time for what is killed meanwhile. By the chain's clock. */
const FALL_SECONDS = 240n;
const PAUSE_MS = 4_000;

export type Prices = {
  /** One step: a pause, then a round, a dip, the beginning of a fall, or a burn. */
  readonly step: () => Promise<void>;
  /** Ends a fall: prices rest at their usual height. */
  readonly rest: () => Promise<void>;
};

export function createPrices(
  { protocol, chain, node }: Pick<SoakWorld, "protocol" | "chain" | "node">,
  seed: number,
): Prices {
  const random = createRandom(seed ^ 0x5eed);
  const { owner } = chain;
  let fall: { symbol: AssetSymbol; price: bigint; until: bigint } | undefined;
  const push = (symbol: AssetSymbol, price: bigint) => act.pushPrice(protocol, owner, symbol, price);

  async function rest(): Promise<void> {
    if (!fall) return;
    await push(fall.symbol, base[fall.symbol]);
    fall = undefined;
  }
  async function move(): Promise<void> {
    const symbol = symbols[random(symbols.length)] ?? "BTC";
    const choice = random(8);
    const low = (base[symbol] * (100n - (depths[random(depths.length)] ?? 0n))) / 100n;
    const now = await act.chainTime(protocol);
    if (fall && now >= fall.until) return rest();
    if (fall) return void (await push(fall.symbol, fall.price));
    if (choice === 0) {
      await act.burnTokens(protocol, owner, BigInt(1 + random(1_000_000)));
    } else if (choice === 1) {
      for (let n = 0; n < DIP_ROUNDS; n += 1) await push(symbol, low);
      await push(symbol, base[symbol]);
    } else if (choice === 2) {
      // The jump ends the dwell of all policies so far: they can be observed.
      const from = await node.jump(BigInt(DWELL));
      fall = { symbol, price: low, until: from + FALL_SECONDS };
      await push(symbol, low);
    } else {
      await push(symbol, (base[symbol] * BigInt(9_950 + random(100))) / 10_000n);
    }
  }
  return {
    rest,
    async step() {
      await sleep(1_000 + random(PAUSE_MS));
      // The node may be dead.
      await move().catch(() => {});
    },
  };
}
