import { getAddress } from "viem";
import { valueWithin } from "../../../lib/timeout.ts";
import type { Api } from "../../http/env.ts";
import { decimalOrNull } from "../../http/field-types.ts";
import type { Period } from "../../http/paging.ts";
import { dayName, everyDay } from "../days.ts";
import type { StatsParts } from "../stats-parts.ts";
import { type BurnerDay, readBurnerDays } from "./queries.ts";
import { burnerSources, burnersRoute } from "./routes.ts";

const total = (days: readonly BurnerDay[], amount: "premium" | "fee" | "spent" | "tokenBurned") =>
  days.reduce((sum, day) => sum + day[amount], 0n);

const sumsOf = (days: readonly BurnerDay[]) => ({
  premium_usdc: String(total(days, "premium")),
  fee_usdc: String(total(days, "fee")),
  spent_usdc: String(total(days, "spent")),
  token_burned: String(total(days, "tokenBurned")),
  burns: days.reduce((sum, { burns }) => sum + burns, 0),
});

/** Longest wait for the contracts' balances, in ms. */
const BALANCES_TIMEOUT_MS = 1500;

export function addBurnerRoutes(app: Api, { index, responses, deployment, chain }: StatsParts): void {
  const { twapBurner, buybackEngine } = deployment.contracts;
  const addresses = { twap_burner: twapBurner, buyback_engine: buybackEngine };
  const burners = responses.define(
    (_: Period) => index.read(readBurnerDays),
    async (days, period, { number, timestamp }) => {
      const waiting = await valueWithin(BALANCES_TIMEOUT_MS, chain.waitingUsdc(number));
      const starts = everyDay(
        days.map(({ dayStart }) => dayStart),
        period,
        timestamp,
      );
      const rows = new Map(days.map((day) => [`${day.source} ${day.dayStart}`, day]));
      return {
        by_day: starts.flatMap((start) =>
          burnerSources.map((source) => {
            const day = rows.get(`${source} ${start}`);
            return { day: dayName(start), source, ...sumsOf(day ? [day] : []) };
          }),
        ),
        burners: burnerSources.map((source) => {
          const own = days.filter((day) => day.source === source);
          const address = addresses[source];
          return {
            source,
            address: address === undefined ? null : getAddress(address),
            ...sumsOf(own),
            // Events do not tell it: shares that the adaptive mode sends away and gifts have none.
            pending_usdc: decimalOrNull(waiting?.[source] ?? null),
          };
        }),
      };
    },
  );
  app.openapi(burnersRoute, async (c) =>
    responses.send(c, await burners(c.req.valid("query")), burnersRoute),
  );
}
