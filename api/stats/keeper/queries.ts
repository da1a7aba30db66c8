import { sql } from "drizzle-orm";
import { z } from "zod";
import type { IndexQuery } from "../../indexed/reader.ts";

const counts = z.object({
  audited_to: z.string().transform(BigInt),
  missed: z.coerce.number().int(),
  missed_while_down: z.coerce.number().int(),
  missed_contracts: z.coerce.number().int(),
  refused: z.coerce.number().int(),
  // A database may have counts of reasons that no longer exist.
  never_payable: z.record(z.string(), z.int()),
});

/** Reads the counts of the running audit of a chain; undefined before its first round. The writer's audit adds to them. */
export async function readKeeperAudit(db: IndexQuery, chainId: number) {
  const [row] = await db.execute(sql`
    select audited_to::text, missed::text, missed_while_down::text, missed_contracts::text, refused::text, never_payable
    from service.keeper_audit where chain_id = ${chainId}`);
  return row && counts.parse(row);
}
