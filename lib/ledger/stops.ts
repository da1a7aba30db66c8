import type { ISql, Sql } from "postgres";
import { type Address, getAddress } from "viem";
import { lower } from "../lower.ts";

export const stopScopes = ["global", "keeper", "wallet", "key"] as const;
export type StopScope = (typeof stopScopes)[number];

/**
 * The kill switch: while a stop is in force, no purchase of its target is accepted, and no transaction signed or sent. The
 * keeper's stops its triggers alone, and the global one these too. A wallet is one of the service's own, on every chain, or a
 * client's wallet with API keys.
 */
export type StopTarget =
  | { scope: "global" }
  | { scope: "keeper" }
  | { scope: "wallet"; wallet: Address }
  | { scope: "key"; keyId: number };
export type Stop = StopTarget & { reason: string; since: Date; setBy: "api" | "command line" };

/** The most characters of a reason that the api takes. */
export const MAX_REASON = 200;

/** Whether a reason can be shown on one line, without control and formatting characters and lone surrogates. */
export const isOneLine = (reason: string): boolean => !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(reason);

/** A target as the table's key has it. */
export function subjectOf(target: StopTarget): string {
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

/** A target as on the command line. */
export function targetText(target: StopTarget): string {
  if (target.scope === "global" || target.scope === "keeper") return target.scope;
  return target.scope === "wallet" ? `wallet ${getAddress(target.wallet)}` : `key ${target.keyId}`;
}

/** The command that lifts a stop; nothing else does. */
export const resumeCommand = (target: StopTarget): string => `npm run ledger -- resume ${targetText(target)}`;

export type StopRow = Pick<Stop, "scope" | "reason" | "since" | "setBy"> & { subject: string };

export const stopColumns = (sql: ISql) => sql`scope, subject, reason, created_at as since, set_by as "setBy"`;

export function stopOf({ scope, subject, ...rest }: StopRow): Stop {
  switch (scope) {
    case "global":
    case "keeper":
      return { scope, ...rest };
    case "wallet":
      return { scope, wallet: `0x${subject.slice(2)}`, ...rest };
    case "key":
      return { scope, keyId: Number(subject), ...rest };
  }
}

/** The place of a stop in the list of all. */
export type StopPosition = Pick<StopRow, "scope" | "subject">;

/**
 * The stops in force after a position, by scope and subject; without a `limit` all of them. They begin with the global one, which is
 * the first scope of the alphabet too.
 */
export async function listStops(
  sql: Sql,
  { limit = null, after }: { limit?: number | null; after?: StopPosition | undefined } = {},
): Promise<Stop[]> {
  const rows = await sql<StopRow[]>`
    select ${stopColumns(sql)} from service.stop
    ${after ? sql`where (scope, subject) > (${after.scope}, ${after.subject})` : sql``}
    order by stop.scope, stop.subject limit ${limit}`;
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
