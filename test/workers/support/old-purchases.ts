/** Purchases in the ledger's database that are old enough to be archived. */
import type { Hex } from "viem";
import { archivePurchases } from "../../../workers/ledger/housekeeping.ts";
import { confirmBlocks, type Outcome, raiseWatermarks, settle } from "../../../workers/ledger/outcomes.ts";
import { bought, chainId, connection, newLease, sign, word } from "./ledger-fixture.ts";

/** After how many days the tests archive. */
export const DAYS = 30;
export const archive = () => archivePurchases(connection.sql, chainId, DAYS);
export const block = (height: number) => ({ number: BigInt(height), hash: word(height) });
export const failed = (failedBy: "buyer" | "protocol") =>
  ({ kind: "reverted", code: "onchain_revert", message: "m", failedBy }) as const;
export type Failure = ReturnType<typeof failed>;

/** Purchases of one wallet, final in block 7 for longer than `DAYS` and far below the head. Those with a failure reverted. */
export async function oldPurchases(
  ids: readonly string[],
  failures: readonly (Failure | undefined)[] = [],
): Promise<Hex[]> {
  const signed = await sign(await newLease(), ids);
  const hashes = signed.map((one) => one.signed.hash);
  const outcomes = hashes.map((hash, n): Outcome => {
    const mined = bought(hash, 7, BigInt(n));
    const failure = failures[n];
    return failure ? { ...mined, ...failure } : mined;
  });
  await settle(connection.sql, outcomes);
  await confirmBlocks(connection.sql, chainId, [block(7)]);
  await age();
  return hashes;
}

/** Moves all purchases into the past, far below the head. */
export async function age(days = DAYS): Promise<void> {
  const past = connection.sql`make_interval(days => ${days})`;
  await connection.sql`update service.transaction set final_at = final_at - ${past}, settled_at = settled_at - ${past}`;
  await connection.sql`update service.purchase set refused_at = refused_at - ${past} where refused_at is not null`;
  await raiseWatermarks(connection.sql, chainId, 1000n);
}

/** Rows of a table of the service. */
export const countOf = async (table: string) => {
  const [row] = await connection.sql<{ count: number }[]>`
    select count(*)::int as count from service.${connection.sql(table)}`;
  return row?.count;
};
