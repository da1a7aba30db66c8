/** The running audit on a real chain and database: each policy is counted once, what was missed in the keeper's absence apart. */
import { beforeAll, expect, test } from "vitest";
import { connect } from "../../lib/db/connect.ts";
import { createLogger } from "../../lib/log.ts";
import { type AuditContext, auditNext, readDowntime } from "../../workers/keeper/audit/running-audit.ts";
import { openCoverChain } from "../../workers/keeper/from-chain/cover-chain.ts";
import { openChain } from "../../workers/relayer/chain.ts";
import { startChain } from "../support/chain.ts";
import { atEnd } from "../support/cleanup.ts";
import { freshDatabase } from "../support/database.ts";
import { livePolicies, type PolicyFates } from "../support/policy-fates.ts";

const chainId = 8453;
let context: AuditContext;
let fates: PolicyFates;

beforeAll(async () => {
  const chain = await startChain({ retired: false, timestamp: 1_900_000_000n });
  const { sql, close } = connect(await freshDatabase(), { name: "test" });
  atEnd(close);
  const cover = openCoverChain(chain.deployment, chain.url);
  const log = createLogger("test", "silent");
  context = { sql, chain: openChain(chain.deployment, chain.url), chainId, cover, confirmations: 1, log };
  // The first round only notes where the keeper began.
  expect(await auditNext(context)).toBe(false);
  fates = await livePolicies(chain);
});

const counts = async () => {
  const [row] = await context.sql`
    select missed::int, missed_while_down::int as down, refused::int, never_payable as never from service.keeper_audit`;
  return row;
};

/** The keeper was at work at all times, but for the downtime of the fates. */
async function noteWatches(): Promise<void> {
  const { from, to } = fates.downtime;
  await context.sql`
    insert into service.keeper_watch (chain_id, since, until, seen_at) values
      (${chainId}, 1, ${String(from - 1n)}::numeric, '-infinity'),
      (${chainId}, ${String(to + 1n)}::numeric, 99999999999, 'infinity')`;
}

/** A wallet of the ledger. */
const noteWallet = (address: string) => context.sql`
  insert into service.relayer_wallet (chain_id, address, role) values (${chainId}, ${address.toLowerCase()}, 'keeper')`;

test("each policy is counted once, however many writers audit and however often", async () => {
  await noteWatches();
  await noteWallet(fates.resetBy);
  expect((await readDowntime(context.sql, chainId)).slice(0, 2)).toEqual([
    { from: 0n, to: 0n },
    fates.downtime,
  ]);
  await Promise.all([auditNext(context), auditNext(context), auditNext(context)]);
  const never = { price_oracle: 1, capacity: 1, receiver: 1, no_way: 1, sequencer_down: 1 };
  // The keeper's own wallet reset one.
  const expected = { missed: 5, down: 1, refused: 0, never };
  expect(await counts()).toEqual(expected);
  expect(await auditNext(context)).toBe(false);
  expect(await counts()).toEqual(expected);
});
