import type { ISql } from "postgres";
import { type Address, getAddress } from "viem";
import { lower } from "../lower.ts";

export const stopScopes = ["global", "keeper", "wallet", "key"] as const;
export type StopScope = (typeof stopScopes)[number];

/**
 * The kill switch: while a stop is in force, no purchase of its target is accepted, and no transaction signed or sent. The
 * keeper's stops its triggers alone, and the global one these too. A wallet is one of the service's own, on every chain, or a client's wallet with API keys.
 */
export type StopTarget =
  | { scope: "global" }
  | { scope: "keeper" }
  | { scope: "wallet"; wallet: Address }
  | { scope: "key"; keyId: number };
/** How a stop was set: over the api, with the admin token, or by `npm run ledger`. */
export const stopSetters = ["api", "command line"] as const;
export type Stop = StopTarget & { reason: string; since: Date; setBy: (typeof stopSetters)[number] };

/** The target of a stop, as on the command line. */
export function targetText(target: StopTarget): string {
  if (target.scope === "global" || target.scope === "keeper") return target.scope;
  return target.scope === "wallet" ? `wallet ${getAddress(target.wallet)}` : `key ${target.keyId}`;
}

/** The command that lifts a stop. */
export const resumeCommand = (target: StopTarget): string => `npm run ledger -- resume ${targetText(target)}`;

/** What the table calls the target beside its scope; unique within the scope. */
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

type Row = Pick<Stop, "scope" | "reason" | "since" | "setBy"> & { subject: string };

function stopOf({ scope, subject, ...rest }: Row): Stop {
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

const columns = (sql: ISql) => sql`scope, subject, reason, created_at as since, set_by as "setBy"`;

/** Sets a stop, or the reason of an existing one. Idempotent. */
export async function setStop(sql: ISql, target: StopTarget, reason: string): Promise<void> {
  await sql`
    insert into service.stop (scope, subject, reason) values (${target.scope}, ${subjectOf(target)}, ${reason})
    on conflict (scope, subject) do update set reason = excluded.reason, set_by = excluded.set_by`;
}

/**
 * Sets a stop, and changes nothing where one is in force. Idempotent. It only inserts, which is all that the api may do.
 * @returns the stop in force, and whether this call has set it
 */
export async function addStop(
  sql: ISql,
  target: StopTarget,
  reason: string,
): Promise<{ stop: Stop; isNew: boolean }> {
  const subject = subjectOf(target);
  // A stop that is lifted between the two statements is set by the next round.
  for (;;) {
    const [added] = await sql<Row[]>`
      insert into service.stop (scope, subject, reason) values (${target.scope}, ${subject}, ${reason})
      on conflict (scope, subject) do nothing returning ${columns(sql)}`;
    if (added) return { stop: stopOf(added), isNew: true };
    const [present] = await sql<Row[]>`
      select ${columns(sql)} from service.stop where scope = ${target.scope} and subject = ${subject}`;
    if (present) return { stop: stopOf(present), isNew: false };
  }
}

/** Lifts a stop. @returns false when none was in force. */
export async function clearStop(sql: ISql, target: StopTarget): Promise<boolean> {
  const rows = await sql`
    delete from service.stop where scope = ${target.scope} and subject = ${subjectOf(target)} returning scope`;
  return rows.length > 0;
}

/** The place of a stop in the list. */
export type StopPosition = { readonly scope: StopScope; readonly subject: string };

/**
 * The stops in force, all of them or `limit` after a position, by scope and subject: the global one, the keeper's, then keys,
 * then wallets.
 */
export async function listStops(
  sql: ISql,
  { limit, after }: { limit?: number; after?: StopPosition | undefined } = {},
): Promise<Stop[]> {
  const rows = await sql<Row[]>`
    select ${columns(sql)} from service.stop
    ${after ? sql`where (scope, subject) > (${after.scope}, ${after.subject})` : sql``}
    order by stop.scope, stop.subject limit ${limit ?? null}`;
  return rows.map(stopOf);
}

/** Whether a key with this id exists, revoked or not. */
export async function keyExists(sql: ISql, keyId: number): Promise<boolean> {
  return (await sql`select 1 from service.api_key where id = ${keyId}`).length > 0;
}

/** Whether the wallet is one of the service's own or has an API key. */
async function isKnownWallet(sql: ISql, wallet: Address): Promise<boolean> {
  const rows = await sql`
    select 1 from service.relayer_wallet where address = ${lower(wallet)}
    union all select 1 from service.api_key where wallet = ${lower(wallet)} limit 1`;
  return rows.length > 0;
}

/** What the operator should know of a target: a stop of an unknown wallet may be a mistake. Null when there is nothing. */
export async function targetWarning(sql: ISql, target: StopTarget): Promise<string | null> {
  if (target.scope !== "wallet" || (await isKnownWallet(sql, target.wallet))) return null;
  return "No writer sends from this wallet yet, and it has no API key.";
}
