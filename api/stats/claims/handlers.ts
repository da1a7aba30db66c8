import { getAddress } from "viem";
import { entryById } from "../../../lib/products.ts";
import type { Api } from "../../http/env.ts";
import { decimalOrNull } from "../../http/field-types.ts";
import { cursorOf, cutPage } from "../../http/paging.ts";
import { pageRows } from "../../indexed/feed.ts";
import type { StatsParts } from "../stats-parts.ts";
import { type ClaimQuery, readClaims } from "./queries.ts";
import { claimsRoute } from "./routes.ts";

/** Seconds from a time, or null, to a later one. */
const secondsFrom = (from: bigint | null, to: bigint) => (from === null ? null : Number(to - from));

export function addClaimsRoute(app: Api, { index, responses }: StatsParts): void {
  const claims = responses.define(
    (query: ClaimQuery) => index.rows((db) => readClaims(db, query)),
    (found, { limit }) => {
      const { rows, next } = cutPage(pageRows(found), limit, cursorOf);
      const entries = rows.map((row) => {
        const triggeredAt = row.blockTimestamp;
        const firstObservedAt = row.firstObservedAt === null ? null : BigInt(row.firstObservedAt);
        return {
          product_id: row.productId,
          product_name: row.productName ?? entryById(row.productId)?.name ?? null,
          policy_id: String(row.policyId),
          buyer: getAddress(row.buyer),
          submitter: getAddress(row.submitter),
          paid: String(row.bondAmount),
          bond_epoch: decimalOrNull(row.bondEpochId),
          coverage: decimalOrNull(row.coverage),
          payout: decimalOrNull(row.payout),
          premium: decimalOrNull(row.premium),
          asset: row.asset,
          strike_price: decimalOrNull(row.strike),
          trigger_price: decimalOrNull(row.triggerPrice),
          bought_at: decimalOrNull(row.boughtAt),
          first_observed_at: decimalOrNull(firstObservedAt),
          triggered_at: String(triggeredAt),
          seconds_to_trigger: secondsFrom(row.boughtAt, triggeredAt),
          seconds_from_first_observation: secondsFrom(firstObservedAt, triggeredAt),
          tx_hash: row.txHash,
          block_number: String(row.blockNumber),
          block_timestamp: String(row.blockTimestamp),
          log_index: row.logIndex,
        };
      });
      return { claims: entries, count: entries.length, next_cursor: next };
    },
  );
  app.openapi(claimsRoute, async (c) => responses.send(c, await claims(c.req.valid("query")), claimsRoute));
}
