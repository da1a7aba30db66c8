/** The statistics of each part of the protocol after the history: redemptions, capacity, the sequencer, a reorganisation. */
import { expect, test } from "vitest";
import { z } from "zod";
import { bondVaultAbi } from "../../../abis/BondVault.ts";
import { readChainState } from "../../model/support/chain-state.ts";
import { expectStats } from "../../model/support/stats-endpoints.ts";
import { buyers, historyContext, trade } from "../../src/support/history.ts";
import * as act from "../../support/protocol-actions.ts";
import { askRpc } from "../../support/rpc-proxy.ts";
import type { TestApi } from "./api.ts";
import { answersCaughtUp } from "./caught-up.ts";

const WEEK = 604_800n;
const holdersBody = z.object({
  holders: z.array(z.object({ holder: z.string(), bonds_usd: z.string() })),
  by_epoch: z.array(z.object({ epoch_id: z.string() })),
});
const queueBody = z.object({
  entries: z.array(z.object({ queue_id: z.string(), expected_from: z.string() })),
  throttle: z.object({ left_token: z.string() }),
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

  test("the vault pays each waiting redemption in the week that was expected of it", async () => {
    const { protocol, owner } = historyContext(api().chain);
    const read = async (path: string) => (await api().request(`/api/v1/stats/${path}`)).json;
    await act.refreshFeeds(protocol, owner);
    await answersCaughtUp(api());
    const epoch = holdersBody.parse(await read("holders")).by_epoch[0]?.epoch_id ?? "";
    const [largest] = holdersBody.parse(await read(`holders?epoch=${epoch}`)).holders;
    const account = buyers.find(({ address }) => address === largest?.holder);
    if (!account) throw new Error("the largest holder is no buyer of the history");
    // A part of its bonds is in escrow. A week's limit is below four parts.
    const part = BigInt(largest?.bonds_usd ?? 0) / 5n;
    for (let n = 0; n < 4; n += 1) await act.redeem(protocol, account, BigInt(epoch), part);
    await expectStatsOfChain(api());
    const { entries, throttle } = queueBody.parse(await read("queue"));
    const expected = entries.map(({ queue_id, expected_from }) => [queue_id, BigInt(expected_from) / WEEK]);
    expect(new Set(expected.map(([, week]) => week)).size).toBeGreaterThan(1);
    const left = {
      abi: bondVaultAbi,
      address: protocol.deployment.contracts.bondVault,
      functionName: "throttleLeft",
    } as const;
    expect(throttle.left_token).toBe(String(await api().chain.client.readContract(left)));

    const paid: unknown[] = [];
    let week = (await act.chainTime(protocol)) / WEEK;
    while (paid.length < expected.length) {
      week += 1n;
      await act.mineAt(protocol, week * WEEK);
      await act.refreshFeeds(protocol, owner);
      for (const id of await act.processQueue(protocol, owner, week)) paid.push([String(id), week]);
      await expectStatsOfChain(api());
    }
    expect(paid).toEqual(expected);
  });

  test("the capacity is the contract's while the token's price is the newest in an event; its age tells when it may not be", async () => {
    const { protocol, owner } = historyContext(api().chain);
    await act.refreshFeeds(protocol, owner);
    await act.mintUsdc(protocol, owner, protocol.deployment.contracts.twapBurner, 1_000_000n);
    await act.executeBurn(protocol, owner);
    const capacityOf = async () => {
      await answersCaughtUp(api());
      const figures = z.object({
        capacity_usdc: z.string(),
        token_price: z.object({ price: z.string(), age_seconds: z.number() }),
      });
      return figures.parse((await api().request("/api/v1/stats/vault")).json);
    };
    const { abi, address } = { abi: bondVaultAbi, address: protocol.deployment.contracts.bondVault };
    const read = { abi, address, functionName: "availableCapacityUSD" } as const;
    const before = await capacityOf();
    expect(before.capacity_usdc).toBe(String(await api().chain.client.readContract(read)));
    await act.setTokenPrice(protocol, owner, "0.09");
    await act.timeTravel(protocol, 600n);
    const after = await capacityOf();
    expect(after).toMatchObject({
      capacity_usdc: before.capacity_usdc,
      token_price: { price: before.token_price.price },
    });
    expect(after.token_price.age_seconds).toBeGreaterThanOrEqual(before.token_price.age_seconds + 600);
    expect(await api().chain.client.readContract(read)).toBeLessThan(BigInt(after.capacity_usdc));
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
