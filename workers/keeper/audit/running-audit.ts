import type { Sql } from "postgres";
import type { Address } from "viem";
import type { KeeperContext } from "../context.ts";
import { auditClosed } from "./audit.ts";
import type { Downtime } from "./replay.ts";

/** Most blocks that one round audits: hours of an L2. */
const BLOCKS = 10_000n;

export type AuditContext = Pick<KeeperContext, "sql" | "chain" | "chainId" | "cover" | "log"> & {
  /** A block counts as final when it lies this deep. */
  readonly confirmations: number;
};

/**
 * Audits the policies that ended in final blocks since the last round, and adds them to the counts that the metrics show. The first
 * round begins at the present block. Several writers may run it: each block is counted once.
 * @returns whether there is more to audit at once.
 */
export async function auditNext(context: AuditContext): Promise<boolean> {
  const { sql, chain, chainId, cover, confirmations, log } = context;
  const head = await chain.block("latest");
  if (!head) throw new Error("the node has no latest block");
  const final = head.number - BigInt(confirmations);
  const [row] = await sql<{ auditedTo: string }[]>`
    insert into service.keeper_audit as a (chain_id, audited_to) values (${chainId}, ${String(final)}::bigint)
    on conflict (chain_id) do update set audited_to = a.audited_to returning audited_to as "auditedTo"`;
  const auditedTo = BigInt(row?.auditedTo ?? final);
  if (final <= auditedTo) return false;
  const fromBlock = auditedTo + 1n;
  const toBlock = final - auditedTo > BLOCKS ? auditedTo + BLOCKS : final;
  const wallets = await sql<{ address: Address }[]>`
    select address from service.relayer_wallet where chain_id = ${chainId} and role = 'keeper'`;
  const counts = await auditClosed(cover, {
    ...{ fromBlock, toBlock, downtime: await readDowntime(sql, chainId) },
    wallets: wallets.map(({ address }) => address),
  });
  const { missed, missedWhileDown, missedContracts, refused, neverPayable } = counts;
  const counted = await sql`
    update service.keeper_audit a set audited_to = ${String(toBlock)}::bigint, missed = missed + ${missed},
      missed_while_down = missed_while_down + ${missedWhileDown}, missed_contracts = missed_contracts + ${missedContracts},
      refused = refused + ${refused},
      never_payable = (
        select coalesce(jsonb_object_agg(reason, n), '{}') from (
          select reason, sum(n) as n from (
            select key as reason, value::bigint as n from jsonb_each_text(a.never_payable)
            union all select key, value::bigint from jsonb_each_text(${JSON.stringify(neverPayable)}::text::jsonb)) both_of
          group by reason) sums)
    where chain_id = ${chainId} and audited_to = ${String(auditedTo)}::bigint returning 1`;
  if (counted.length > 0 && missed + refused > 0) {
    log.error(
      { fromBlock: String(fromBlock), toBlock: String(toBlock), missed, refused },
      "policies that could have been paid were not: npm run keeper -- audit lists them",
    );
  }
  if (counted.length > 0 && missedContracts > 0) {
    log.warn(
      { fromBlock: String(fromBlock), toBlock: String(toBlock), missed: missedContracts },
      "policies of buyers with code were not paid: npm run keeper -- audit lists them",
    );
  }
  return toBlock < final;
}

/** The times in which no keeper was at work: between its watches, before the first and since the last. */
export async function readDowntime(sql: Sql, chainId: number): Promise<Downtime[]> {
  const rows = await sql<{ from: string; to: string | null }[]>`
    with watch as (
      select since, until, lead(since) over (order by since) as next, row_number() over (order by since) as n
      from service.keeper_watch where chain_id = ${chainId})
    select '0' as from, (since - 1)::text as to from watch where n = 1
    union all select (until + 1)::text, (next - 1)::text from watch where next is null or next > until + 1`;
  return rows.map(({ from, to }) => ({ from: BigInt(from), to: to === null ? FOREVER : BigInt(to) }));
}

/** Later than any block, in Unix seconds. */
const FOREVER = 2n ** 63n;
