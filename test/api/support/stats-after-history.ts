/** The statistics of each part of the protocol after the history: redemptions, capacity, the sequencer, a reorganisation. */
import { expect, test } from "vitest";
import { z } from "zod";
import { bondVaultAbi } from "../../../abis/BondVault.ts";
import { readChainState } from "../../model/support/chain-state.ts";
import { expectStats } from "../../model/support/stats-endpoints.ts";
import { historyContext, trade } from "../../src/support/history.ts";
import * as act from "../../support/protocol-actions.ts";
import { askRpc } from "../../support/rpc-proxy.ts";
import type { TestApi } from "./api.ts";
import { answersCaughtUp } from "./caught-up.ts";

const WEEK = 604_800n;
const queueBody = z.object({
  entries: z.array(
    z.object({
      ...{ queue_id: z.string(), status: z.string(), usd_amount: z.string(), target_week: z.string() },
      expected_from: z.string().nullable(),
    }),
  ),
});

const pausesBody = z.object({ pauses: z.array(z.looseObject({ scope: z.string() })) });

async function expectStatsOfChain(api: TestApi): Promise<void> {
  await answersCaughtUp(api);
  await expectStats(api.request, await readChainState(api.chain));
}

export function statsAfterHistory(api: () => TestApi): void {
  test("after trade, and after a reorganisation that takes it back, every answer matches the chain", async () => {
    await trade(historyContext(api().chain));
    await expectStatsOfChain(api());
    await askRpc(api().chain.url, "anvil_reorg", [5, []]);
    await api().chain.client.mine({ blocks: 1 });
    await expectStatsOfChain(api());
  });

  test("the vault pays the waiting redemptions that were expected to be paid, and the others are stranded", async () => {
    const { protocol, owner } = historyContext(api().chain);
    const read = async (path: string) => (await api().request(`/api/v1/stats/${path}`)).json;
    const waiting = async () => {
      await answersCaughtUp(api());
      return queueBody.parse(await read("queue")).entries;
    };
    await expectStatsOfChain(api());
    const before = await waiting();
    const coming = before.filter(({ status }) => status === "queued");
    // The history leaves entries of a past week, and some that wait for the next one.
    expect(coming.length).toBeGreaterThan(1);
    expect(before.length).toBeGreaterThan(coming.length);
    expect(before.every(({ status, expected_from }) => status === "queued" || expected_from === null)).toBe(
      true,
    );
    const [week] = coming.map(({ target_week }) => BigInt(target_week));
    if (week === undefined) throw new Error("nothing waits");
    expect(coming.map(({ expected_from }) => expected_from)).toEqual(coming.map(() => String(week * WEEK)));
    await act.mineAt(protocol, week * WEEK);
    await act.refreshFeeds(protocol, owner);
    await expectStatsOfChain(api());
    const { paid } = await act.processQueue(protocol, owner);
    expect(paid.map(({ usd }) => String(usd))).toEqual(coming.map(({ usd_amount }) => usd_amount));
    await expectStatsOfChain(api());
    expect(await waiting()).toEqual(before.filter(({ status }) => status === "stranded"));
  });

  test("a price that no event names, and none at all, give the vault's figures to the digit", async () => {
    const { protocol, owner } = historyContext(api().chain);
    const { abi, address } = { abi: bondVaultAbi, address: protocol.deployment.contracts.bondVault };
    const read = async (path: string) => {
      await answersCaughtUp(api());
      return (await api().request(`/api/v1/stats/${path}`)).json;
    };
    async function expectVaultsFigures() {
      const views = { abi, address } as const;
      const [reserve, worth, , available, price] = await api().chain.client.readContract({
        ...views,
        functionName: "getStatus",
      });
      const capacity = await api().chain.client.readContract({
        ...views,
        functionName: "availableCapacityUSD",
      });
      expect(available).toBe(capacity);
      const token_price = { source: "vault", price: String(price), age_seconds: 0 };
      expect(await read("vault")).toMatchObject({
        reserve_token: String(reserve),
        reserve_usdc: String((reserve * price) / 10n ** 30n),
        // The vault tells whole dollars, USDC has 6 decimals.
        capacity_usdc: String(available * 1_000_000n),
        token_price,
      });
      expect((reserve * price) / 10n ** 36n).toBe(worth);
      expect(await read("queue")).toMatchObject({ token_price });
      expect(await read("prices")).toMatchObject({ token: token_price });
      await expectStatsOfChain(api());
    }
    await act.refreshFeeds(protocol, owner);
    await act.mintUsdc(protocol, owner, protocol.deployment.contracts.twapBurner, 1_000_000n);
    // A burn's price has 6 decimals.
    await act.setTokenPrice(protocol, owner, "0.0923456789");
    await act.executeBurn(protocol, owner);
    await expectVaultsFigures();
    await act.setTokenPrice(protocol, owner, "0.0712345678");
    await expectVaultsFigures();
    await act.setPriceStale(protocol, owner, true);
    await expectVaultsFigures();
    await act.setPriceStale(protocol, owner, false);
    await act.setTokenPrice(protocol, owner, "0.1");
  });

  test("an outage of the sequencer stands among the pauses, from its start to its end", async () => {
    const { protocol, owner } = historyContext(api().chain);
    const outages = async () => {
      await answersCaughtUp(api());
      const { pauses } = pausesBody.parse((await api().request("/api/v1/stats/pauses")).json);
      return pauses.filter(({ scope }) => scope === "sequencer");
    };
    const [ended, ...none] = await outages();
    expect(none).toEqual([]);
    expect(ended).toMatchObject({ duration_seconds: 1, started_by: null, ended_by: null });
    const down = (await act.chainTime(protocol)) - 60n;
    await act.setSequencer(protocol, owner, { down: true, startedAt: down });
    expect((await outages())[0]).toMatchObject({
      started_at: String(down),
      ended_at: null,
      end_tx_hash: null,
    });
    await expectStatsOfChain(api());
    const { transactionHash } = await act.setSequencer(protocol, owner, {
      down: false,
      startedAt: down + 30n,
    });
    expect((await outages())[0]).toMatchObject({
      ...{ started_at: String(down), ended_at: String(down + 30n), duration_seconds: 30 },
      end_tx_hash: transactionHash,
    });
    await expectStatsOfChain(api());
    // A mock feed takes any time: an end before the start, and a start that no calendar has.
    await act.setSequencer(protocol, owner, { down: true, startedAt: 2n ** 256n - 1n });
    await act.setSequencer(protocol, owner, { down: false, startedAt: 1n });
    expect((await outages())[0]).toMatchObject({ ended_at: "1", duration_seconds: 0 });
  });
}
