/** A page of a buyer's policies: as JSON from Postgres, or as rows where the index lacks some of their fields. */
import { eq } from "drizzle-orm";
import { lower } from "../../lib/lower.ts";
import { account } from "../../ponder.schema.ts";
import type { AsOf } from "../chain/block.ts";
import { policyBody } from "../chain/policy-body.ts";
import { cursorOf, cutPage } from "../http/paging.ts";
import { pageRows } from "../indexed/feed.ts";
import { type JsonText, withEntries } from "../indexed/json-text.ts";
import type { IndexReader } from "../indexed/reader.ts";
import { withChecksums } from "./entry-json.ts";
import { type IndexedPolicy, type PolicyPage, preparePolicyEntries, toIndexedPolicy } from "./queries.ts";
import { completePolicy, type PolicyReaders } from "./reader.ts";
import type { PolicyListBody } from "./routes.ts";
import { searchPolicies } from "./search-queries.ts";

/** One policy more than the page has, if there is a further page. */
type FoundPage =
  | { readonly total: number; readonly entries: readonly string[]; readonly last: string | null }
  | { readonly total: number; readonly policies: readonly IndexedPolicy[] };

/** Makes the read of a page. Its JSON is as of the block in the answer. */
export function createPageRead(index: IndexReader) {
  const entriesOf = index.prepare(preparePolicyEntries);
  /** The page where Postgres cannot write it. */
  const policiesOf = (page: PolicyPage) =>
    index.read(async (db, asOf): Promise<FoundPage> => {
      const [owner, found] = await Promise.all([
        db
          .select({ total: account.policies })
          .from(account)
          .where(eq(account.address, lower(page.buyer))),
        asOf.then(({ timestamp }) => searchPolicies(db, page, timestamp)),
      ]);
      return { total: owner[0]?.total ?? 0, policies: pageRows(found).map(toIndexedPolicy) };
    });
  return async (page: PolicyPage): Promise<{ asOf: AsOf; value: FoundPage }> => {
    const { asOf, value } = await entriesOf(page);
    const [found] = value;
    const total = found?.account?.policies ?? 0;
    if (!found) return { asOf, value: { total, entries: [], last: null } };
    const { lines, shields, complete, last, hasReplaced } = found.entries;
    if (hasReplaced) return policiesOf(page);
    if (lines === null) return { asOf, value: { total, entries: [], last: null } };
    if (!complete || shields === null) return policiesOf(page);
    const entries = withChecksums(lines, shields.split(",")).split("\n");
    return { asOf, value: { total, entries, last } };
  };
}

/** The body of a page. @throws ApiError `chain_not_found` when the chain is needed and does not answer */
export async function pageBody(
  readers: PolicyReaders,
  found: FoundPage,
  { buyer, limit, offset }: PolicyPage,
  asOf: AsOf,
): Promise<PolicyListBody | JsonText<PolicyListBody>> {
  const { total } = found;
  if ("entries" in found) {
    const entries = found.entries.slice(0, limit);
    const nextCursor = found.entries.length > limit ? found.last : null;
    const fields = { buyer, count: entries.length, total, limit, offset, nextCursor };
    return withEntries(fields, "policies", entries);
  }
  const { rows, next } = cutPage(found.policies, limit, cursorOf);
  const policies = await Promise.all(
    rows.map(async (row) => {
      const { txHash, blockNumber, logIndex } = row;
      const policy = await completePolicy(readers, row);
      return { ...policyBody(policy, asOf), txHash, blockNumber: String(blockNumber), logIndex };
    }),
  );
  return { buyer, count: policies.length, total, limit, offset, nextCursor: next, policies };
}
