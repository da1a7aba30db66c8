import type { Sql } from "postgres";
import type { Address } from "viem";
import { lower } from "../../lib/lower.ts";

/**
 * The kill switch: while a stop is in force, no purchase of its target is accepted, and no transaction signed or sent. The
 * keeper's stops its triggers alone, and the global one these too. A wallet is one of the service's own, on every chain, or a client's wallet with API keys.
 */
export type StopTarget =
  | { scope: "global" }
  | { scope: "keeper" }
  | { scope: "wallet"; wallet: Address }
  | { scope: "key"; keyId: number };
export type Stop = StopTarget & { reason: string; since: Date };

function subjectOf(target: StopTarget): string {
  switch (target.scope) {
    case "global":
    case "keeper":
      return "";
    case "wallet":
      return lower(target.wallet);
    case "key":
      return String(target.keyId);
  }
}

/** Sets a stop, or the reason of an existing one. Idempotent. */
export async function setStop(sql: Sql, target: StopTarget, reason: string): Promise<void> {
  await sql`
    insert into service.stop (scope, subject, reason) values (${target.scope}, ${subjectOf(target)}, ${reason})
    on conflict (scope, subject) do update set reason = excluded.reason`;
}

/** Lifts a stop. @returns false when none was in force. */
export async function clearStop(sql: Sql, target: StopTarget): Promise<boolean> {
  const rows = await sql`
    delete from service.stop where scope = ${target.scope} and subject = ${subjectOf(target)} returning scope`;
  return rows.length > 0;
}

type Row = Pick<Stop, "scope" | "reason" | "since"> & { subject: string };

function stopOf({ scope, subject, reason, since }: Row): Stop {
  switch (scope) {
    case "global":
    case "keeper":
      return { scope, reason, since };
    case "wallet":
      return { scope, wallet: `0x${subject.slice(2)}`, reason, since };
    case "key":
      return { scope, keyId: Number(subject), reason, since };
  }
}

/** The stops in force: the global one, the keeper's, then wallets, then keys. */
export async function listStops(sql: Sql): Promise<Stop[]> {
  const rows = await sql<Row[]>`
    select scope, subject, reason, created_at as since from service.stop
    order by array_position(array['global', 'keeper', 'wallet', 'key'], scope), subject`;
  return rows.map(stopOf);
}

/** Whether a key with this id exists, revoked or not. */
export async function keyExists(sql: Sql, keyId: number): Promise<boolean> {
  return (await sql`select 1 from service.api_key where id = ${keyId}`).length > 0;
}

/** Whether the wallet is one of the service's own or has an API key. */
export async function isKnownWallet(sql: Sql, wallet: Address): Promise<boolean> {
  const rows = await sql`
    select 1 from service.relayer_wallet where address = ${lower(wallet)}
    union all select 1 from service.api_key where wallet = ${lower(wallet)} limit 1`;
  return rows.length > 0;
}
