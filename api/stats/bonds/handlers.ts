import type { Api } from "../../http/env.ts";
import { decimalOrNull } from "../../http/field-types.ts";
import type { StatsParts } from "../stats-parts.ts";
import { type Maturity, readMaturities } from "./queries.ts";
import { maturitiesRoute } from "./routes.ts";

type Amount = "issued" | "redeemed" | "queued" | "surrendered" | "supply" | "listed";

/** The amounts of these epochs together, as the response names them. */
function amountsOf(epochs: readonly Maturity[]) {
  const total = (amount: Amount) => String(epochs.reduce((sum, epoch) => sum + (epoch[amount] ?? 0n), 0n));
  return {
    minted_usd: total("issued"),
    redeemed_usd: total("redeemed"),
    queued_usd: total("queued"),
    surrendered_usd: total("surrendered"),
    outstanding_usd: total("supply"),
    listed_usd: total("listed"),
  };
}

export function addMaturityRoutes(app: Api, { index, responses }: StatsParts): void {
  const maturities = responses.define(
    (_: null) => index.read(readMaturities),
    (epochs, _, { timestamp }) => ({
      epochs: epochs.map((epoch) => ({
        epoch_id: String(epoch.epochId),
        maturity_date: decimalOrNull(epoch.maturityDate),
        matured: epoch.maturityDate !== null && timestamp >= epoch.maturityDate,
        ...amountsOf([epoch]),
      })),
      total: amountsOf(epochs),
    }),
  );
  app.openapi(maturitiesRoute, async (c) => responses.send(c, await maturities(null), maturitiesRoute));
}
