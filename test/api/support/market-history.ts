/** An api and an indexer on the history of every event, with a market of several listings after it. */
import type { Address } from "viem";
import { z } from "zod";
import { listBond } from "../../../scripts/local/protocol/actions/index.ts";
import { buyers, chapters, historyContext, trade } from "../../src/support/history.ts";
import { startApi, type TestApi } from "./api.ts";
import { answersCaughtUp } from "./caught-up.ts";

const [, first, second] = buyers;
if (!first || !second) throw new Error("the history has too few buyers");

/** Two holders of bonds that have matured; the second also has newer ones, and sells some of them. */
export const [bob, carol] = [first, second];

export const DOLLAR = 1_000_000n;
export const DAY = 86_400n;
/** An address without bonds and listings. */
export const NOBODY = "0x000000000000000000000000000000000000dEaD";

export type MarketApi = TestApi & {
  /** Waits until responses are of the chain's newest block. */
  readonly waitForIndex: () => Promise<void>;
  /** The latest epoch in which a wallet holds bonds. */
  readonly openEpoch: (owner: Address) => Promise<bigint>;
};

const held = z.object({ bonds: z.array(z.object({ epochId: z.string() })) });

/** Plays the history, and lists bonds at, slightly above and far above their face value. */
export async function startMarketApi(): Promise<MarketApi> {
  const api = await startApi({ services: ["api", "indexer"], chainOptions: { retired: false } });
  const context = historyContext(api.chain);
  for (const chapter of chapters) await chapter.play(context);
  await trade(context);

  const waitForIndex = () => answersCaughtUp(api);

  async function openEpoch(owner: Address): Promise<bigint> {
    await waitForIndex();
    const { bonds } = held.parse((await api.request(`/api/v1/bonds/by-owner/${owner}`)).json);
    return BigInt(bonds.at(-1)?.epochId ?? 0);
  }

  const epochId = await openEpoch(carol.address);
  for (const [amount, dollars] of [
    [100n, 100n],
    [10n, 35n],
    [200n, 210n],
  ] as const)
    await listBond(api.protocol, carol, epochId, amount, dollars * DOLLAR);
  return { ...api, waitForIndex, openEpoch };
}
