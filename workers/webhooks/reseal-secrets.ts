import type { Sql } from "postgres";
import { type Sealer, UnopenableSecret } from "../../lib/webhooks/secrets.ts";

/** Webhooks of one statement. */
const PAGE = 500;

/** `previous` is null where no previous secret signs any more. */
type SealedRow = { id: string; wallet: string; secret: string; previous: string | null };
/** A row's secrets, sealed with the key, beside those that they replace. */
type Change = {
  id: string;
  secret: string;
  previous: string | null;
  old_secret: string;
  old_previous: string | null;
};

/**
 * Seals with `SECRETS_KEY` all webhooks' secrets that were sealed with `SECRETS_KEY_PREVIOUS`. Secrets that are replaced
 * meanwhile are left to the next call. It may run in several writers at once.
 *
 * @returns how many webhooks were changed, and how many have a secret that neither key opens.
 */
export async function resealSecrets(
  sql: Sql,
  sealer: Sealer,
): Promise<{ resealed: number; unopenable: number }> {
  let [after, resealed, unopenable] = ["0", 0, 0];
  for (;;) {
    const rows = await sql<SealedRow[]>`
      select w.id::text, wallet, secret, case when previous_secret_until > now() then previous_secret end as previous
      from service.webhook w
      where w.id > ${after}::bigint and secret <> '' order by w.id limit ${PAGE}`;
    const last = rows.at(-1);
    if (!last) return { resealed, unopenable };
    after = last.id;
    const changes: Change[] = [];
    for (const row of rows) {
      const change = changeOf(row, sealer);
      if (change === "unopenable") unopenable += 1;
      else if (change) changes.push(change);
    }
    resealed += await store(sql, changes);
  }
}

/** Undefined where the key has sealed both. */
function changeOf(
  { id, wallet, secret, previous }: SealedRow,
  sealer: Sealer,
): Change | "unopenable" | undefined {
  try {
    const newSecret = sealer.reseal(secret, wallet);
    const newPrevious = previous === null ? undefined : sealer.reseal(previous, wallet);
    if (newSecret === undefined && newPrevious === undefined) return undefined;
    const old = { old_secret: secret, old_previous: previous };
    return { id, secret: newSecret ?? secret, previous: newPrevious ?? previous, ...old };
  } catch (error) {
    if (error instanceof UnopenableSecret) return "unopenable";
    throw error;
  }
}

async function store(sql: Sql, changes: readonly Change[]): Promise<number> {
  if (changes.length === 0) return 0;
  const changed = await sql`
    update service.webhook w set secret = c.secret, previous_secret = coalesce(c.previous, w.previous_secret)
    from json_to_recordset(${JSON.stringify(changes)}::text::json) as c (
      id bigint, secret text, previous text, old_secret text, old_previous text)
    where w.id = c.id and w.secret = c.old_secret and (c.old_previous is null or w.previous_secret = c.old_previous)`;
  return changed.count;
}
