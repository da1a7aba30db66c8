/** Burned tokens. They concern no wallet in particular: every subscription to burns receives them. */
import { getAddress } from "viem";
import { tokenBurn } from "../../../ponder.schema.ts";
import { decimalOrNull, type Source, source } from "./source.ts";

export const burnSources: readonly Source[] = [
  source({
    type: "token_burned",
    table: tokenBurn,
    rows: (db, where) => db.select().from(tokenBurn).where(where),
    parties: () => [],
    data: (row) => ({
      burner: getAddress(row.burner),
      source: row.source,
      tokenAmount: String(row.tokenAmount),
      usdcSpent: String(row.usdcSpent),
      effectivePrice: decimalOrNull(row.effectivePrice),
    }),
  }),
];
