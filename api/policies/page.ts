/** A page of a buyer's policies. */
import { eq } from "drizzle-orm";
import { lower } from "../../lib/lower.ts";
import { account } from "../../ponder.schema.ts";
import type { AsOf } from "../chain/block.ts";
import { policyEntry } from "../chain/policy-body.ts";
import { cursorOf, cutPage } from "../http/paging.ts";
import { pageRows } from "../indexed/feed.ts";
import type { IndexReader } from "../indexed/reader.ts";
import { type IndexedPolicy, type PolicyPage, prepareBuyerPage, toIndexedPolicy } from "./queries.ts";
import { completePolicy, type PolicyReaders } from "./reader.ts";
import type { PolicyListBody } from "./routes.ts";
import { searchPolicies } from "./search-queries.ts";

/** The buyer's policies in all, and those of a page, with one more if there is a further page. */
type FoundPage = { readonly total: number; readonly policies: readonly IndexedPolicy[] };

/** Makes the read of a page. Pages along a cursor, which most clients read, have a prepared statement. */
export function createPageRead(index: IndexReader) {
  const newest = index.prepare(prepareBuyerPage);
  return async (page: PolicyPage): Promise<{ asOf: AsOf; value: FoundPage }> => {
    if (page.offset === 0 && page.from === undefined && page.to === undefined) {
      const { asOf, value } = await newest(page);
      const total = value[0]?.account?.policies ?? 0;
      return { asOf, value: { total, policies: pageRows(value).map(toIndexedPolicy) } };
    }
    return index.read(async (db, asOf) => {
      const { policies: total } = account;
      const [[owner], found] = await Promise.all([
        db
          .select({ total })
          .from(account)
          .where(eq(account.address, lower(page.buyer))),
        asOf.then(({ timestamp }) => searchPolicies(db, page, timestamp)),
      ]);
      return { total: owner?.total ?? 0, policies: pageRows(found).map(toIndexedPolicy) };
    });
  };
}

/** The body of a page. @throws ApiError `chain_not_found` when the chain is needed and does not answer */
export async function pageBody(
  readers: PolicyReaders,
  { total, policies: found }: FoundPage,
  { buyer, limit, offset }: PolicyPage,
  asOf: AsOf,
): Promise<PolicyListBody> {
  const { rows, next } = cutPage(found, limit, cursorOf);
  const policies = await Promise.all(
    rows.map(async (row) => policyEntry(await completePolicy(readers, row), row, asOf)),
  );
  return { buyer, count: policies.length, total, limit, offset, nextCursor: next, policies };
}
