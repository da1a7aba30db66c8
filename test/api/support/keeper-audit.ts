import postgres from "postgres";
import { seedAccounts } from "../../../scripts/local/seed/accounts.ts";
import * as act from "../../support/protocol-actions.ts";
import type { TestApi } from "./api.ts";
import { answersCaughtUp } from "./caught-up.ts";

/**
 * Writes what a keeper's audit counts into the service's database, as the writer does, and waits for an answer of a later block:
 * up to block 1,234 one policy was missed, two without a keeper, and four could not be paid.
 */
export async function writeKeeperAudit(api: TestApi): Promise<void> {
  const sql = postgres(api.stack.databaseUrl, { max: 1, onnotice: () => {} });
  try {
    await sql`insert into service.keeper_audit (chain_id, audited_to, missed, missed_while_down, never_payable)
      values (${api.chain.deployment.chainId}, 1234, 1, 2, '{"capacity": 3, "no_way": 1}')`;
  } finally {
    await sql.end();
  }
  // Answers are kept for a block.
  await act.refreshFeeds(api.protocol, seedAccounts.owner);
  await answersCaughtUp(api);
}
