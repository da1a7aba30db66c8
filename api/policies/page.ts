/** A page of a buyer's policies: as JSON from Postgres, or as rows where the index lacks some of their fields. */
import { eq } from "drizzle-orm";
import { lower } from "../../lib/lower.ts";
import { account } from "../../ponder.schema.ts";
import type { AsOf } from "../chain/block.ts";
import { policyBody } from "../chain/policy-body.ts";
import { cursorOf, cutPage } from "../http/paging.ts";
import { pageRows } from "../indexed/feed.ts";
import { type JsonText, withList } from "../indexed/json-text.ts";
import type { IndexReader } from "../indexed/reader.ts";
import { writeChecksums } from "./entry-json.ts";
import { type IndexedPolicy, type PolicyPage, preparePolicyEntries, toIndexedPolicy } from "./queries.ts";
import { completePolicy, type PolicyReaders } from "./reader.ts";
import type { PolicyListBody } from "./routes.ts";
import { searchPolicies } from "./search-queries.ts";

/** `list` has the page's entries. `count`, and the number of `policies`, are above the page's limit if there is a further page. */
type FoundPage =
  | { readonly total: number; readonly list: string; readonly count: number; readonly last: string | null }
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
    if (!found) return { asOf, value: { total, list: "", count: 0, last: null } };
    const { list, count, complete, last, hasReplaced } = found.entries;
    if (hasReplaced) return policiesOf(page);
    if (list === null) return { asOf, value: { total, list: "", count: 0, last: null } };
    if (!complete) return policiesOf(page);
    return { asOf, value: { total, list, count, last } };
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
  if ("list" in found) {
    const nextCursor = found.count > limit ? found.last : null;
    const count = Math.min(found.count, limit);
    const body = withList<PolicyListBody>(
      { buyer, count, total, limit, offset, nextCursor },
      "policies",
      found.list,
    );
    writeChecksums(body.bytes);
    return body;
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
