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

/** `list` has the page's entries; of rows, there is one more if there is a further page. */
type FoundPage =
  | {
      readonly total: number;
      readonly list: Buffer;
      readonly count: number;
      readonly nextCursor: string | null;
    }
  | { readonly total: number; readonly policies: readonly IndexedPolicy[] };

const noEntries = { list: Buffer.alloc(0), count: 0, nextCursor: null };

/** The first `limit` entries of a list, and the position of the last of them; for `ends` see {@link preparePolicyEntries}. */
function firstEntries(list: Buffer, ends: string, limit: number) {
  const first = ends.split(",", limit).map((end) => end.split(" "));
  const commas = first.length - 1;
  const bytes = first.reduce((sum, [length]) => sum + Number(length), commas);
  return { list: list.subarray(0, bytes), nextCursor: first.at(-1)?.[1] ?? null };
}

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
    if (!found) return { asOf, value: { total, ...noEntries } };
    const { list, ends, count, complete, hasReplaced } = found.entries;
    if (hasReplaced) return policiesOf(page);
    if (list === null || ends === null) return { asOf, value: { total, ...noEntries } };
    if (!complete) return policiesOf(page);
    if (count <= page.limit) return { asOf, value: { total, list, count, nextCursor: null } };
    return { asOf, value: { total, count: page.limit, ...firstEntries(list, ends, page.limit) } };
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
    const { list, count, nextCursor } = found;
    const fields = { buyer, count, total, limit, offset, nextCursor };
    const body = withList<PolicyListBody>(fields, "policies", list);
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
