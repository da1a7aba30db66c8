/** What these tests prove: Bonds has the API's figures, with every digit, in the month, order and range of the address. */
import { afterAll, beforeAll, describe, expect } from "vitest";
import type { z } from "zod";
import { percentText } from "../../../dashboard/format/amount.ts";
import { epochName } from "../../../dashboard/format/epoch.ts";
import type { TestApi } from "../../api/support/api.ts";
import { closePages, type OpenPage, testWithBrowser } from "../../support/chromium.ts";
import {
  amountsIn,
  choose,
  exactFigure,
  exactPercent,
  openDashboard,
  part,
  plotValues,
  table,
} from "../support/dashboard.ts";
import { readApi } from "../support/history.ts";
import * as shapes from "../support/shapes.ts";

let api: TestApi;
const read = <T>(path: string, shape: z.ZodType<T>) => readApi(api, path, shape);

/** The tests, on the history that the file has started. */
export function testBonds(history: () => TestApi): void {
  beforeAll(() => {
    api = history();
  });

  describe("bonds", () => {
    let opened: OpenPage;
    afterAll(closePages);

    testWithBrowser("sentence, ladder and balance are the API's, by what became of the bonds", async () => {
      opened = await openDashboard(api.stack.apiUrl, "/bonds");
      const { epochs, total } = await read("/api/v1/stats/bonds/maturities", shapes.maturities);
      const { minted_usd, redeemed_usd, queued_usd, surrendered_usd, outstanding_usd } = total;
      expect(epochs.length).toBeGreaterThan(1);
      expect(await amountsIn(opened, ".sentence")).toEqual([outstanding_usd, queued_usd]);
      expect(await amountsIn(opened, ".balance")).toEqual([
        minted_usd,
        redeemed_usd,
        queued_usd,
        surrendered_usd,
        outstanding_usd,
      ]);
      expect(await amountsIn(opened, table("Bonds by maturity"))).toEqual(
        epochs.flatMap((epoch) => [
          epoch.minted_usd,
          epoch.redeemed_usd,
          epoch.queued_usd,
          epoch.surrendered_usd,
          epoch.outstanding_usd,
          epoch.listed_usd,
        ]),
      );
      const bars = [
        ["In circulation", "outstanding_usd"],
        ["Queued", "queued_usd"],
        ["Redeemed", "redeemed_usd"],
        ["Issued", "minted_usd"],
      ] as const;
      for (const [title, field] of bars) {
        await choose(opened, "What the bars show", title);
        expect(await plotValues(opened, `${title} by maturity`)).toEqual(
          epochs.map((epoch) => epoch[field]).reverse(),
        );
      }
      expect(new URL(opened.page.url()).search).toBe("?bars=issued");
    });

    testWithBrowser("the reserve and what it is taken for are the API's", async () => {
      const vault = await read("/api/v1/stats/vault", shapes.vault);
      expect(await exactFigure(opened, "Reserve")).toBe(vault.reserve_usdc);
      expect(await exactFigure(opened, "Price of a token")).toBe(vault.token_price.price);
      expect(await exactPercent(opened, "Solvency")).toBe(percentText(vault.solvency_ratio));
      expect(await exactPercent(opened, "In use")).toBe(percentText(vault.utilisation));
      expect(await amountsIn(opened, `${part("Reserve and obligations")} .shares`)).toEqual([
        vault.obligations_usd,
        vault.reserved_usdc,
        vault.capacity_usdc,
      ]);
    });

    testWithBrowser("the queue has each redemption, and what is left of the week's limit", async () => {
      const { entries, waiting, throttle } = await read("/api/v1/stats/queue", shapes.queue);
      expect(entries.length).toBeGreaterThan(0);
      expect(await amountsIn(opened, table("Redemptions that wait"))).toEqual(
        entries.flatMap(({ queue_id, usd_amount, ahead_usd }) => [queue_id, usd_amount, ahead_usd]),
      );
      expect(await exactFigure(opened, "Waiting")).toBe(waiting.usd);
      expect(await exactFigure(opened, "Due this week")).toBe(waiting.due_usd);
      expect(await exactFigure(opened, "Left this week")).toBe(throttle.left_usdc);
      expect(await amountsIn(opened, `${part("Redemption queue")} .shares`)).toEqual([
        throttle.paid_token,
        throttle.left_token,
      ]);
      const free = BigInt(throttle.left_usdc) - BigInt(waiting.due_usd) * 1_000_000n;
      expect(await amountsIn(opened, `${part("Redemption queue")} > .lead`)).toEqual([
        waiting.usd,
        ...(free > 0n ? [String(free)] : []),
      ]);
    });

    testWithBrowser("holders are those of the month in the address, or of all", async () => {
      const all = await read("/api/v1/stats/holders", shapes.holders);
      const months = all.by_epoch.filter(({ outstanding_usd }) => outstanding_usd !== "0");
      const [first, ...others] = all.holders.map(({ bonds_usd }) => BigInt(bonds_usd));
      expect(await amountsIn(opened, table("Holders of bonds"))).toEqual(
        all.holders.map(({ bonds_usd }) => bonds_usd),
      );
      expect(await amountsIn(opened, table("Holders by month of maturity"))).toEqual(
        all.by_epoch.flatMap(({ holders, outstanding_usd }) => [String(holders), outstanding_usd]),
      );
      expect(all.holders_total).toBe(all.holders.length);
      expect(await amountsIn(opened, `${part("Holders")} .shares`)).toEqual([
        String(first),
        String(others.reduce((sum, bonds) => sum + bonds, 0n)),
      ]);
      expect(months.length).toBeGreaterThan(1);
      for (const { epoch_id } of months) {
        await choose(opened, "Month of maturity", epochName(epoch_id));
        const { holders } = await read(`/api/v1/stats/holders?epoch=${epoch_id}`, shapes.holders);
        expect(await amountsIn(opened, table("Holders of bonds"))).toEqual(
          holders.map(({ bonds_usd }) => bonds_usd),
        );
      }
      const copy = await openDashboard(api.stack.apiUrl, `/bonds${new URL(opened.page.url()).search}`);
      expect(await amountsIn(copy, table("Holders of bonds"))).toEqual(
        await amountsIn(opened, table("Holders of bonds")),
      );
      expect([...opened.faults(), ...copy.faults()]).toEqual([]);
    });
  });
}
