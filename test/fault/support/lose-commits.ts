/** A database that has lost its last commits, as a standby that was promoted without them, or a restored backup. */
import type { Sql } from "postgres";

/**
 * Takes the ledger back to before these purchases and their permits were signed: each waits again, accepted `age` seconds
 * ago. With `forget`, the purchases themselves are gone too.
 */
export async function loseSignatures(
  sql: Sql,
  purchases: readonly string[],
  { forget = false, age = 0 } = {},
): Promise<void> {
  await sql.begin(async (tx) => {
    const ids = [...purchases];
    const permits = await tx<{ id: string }[]>`
      select id from service.permit where purchase_id = any(${ids}::uuid[])`;
    const intents = [...ids, ...permits.map(({ id }) => id)];
    const lost = await tx<{ wallet: string; nonce: string }[]>`
      select wallet, nonce from service.transaction where intent = any(${intents}::uuid[])`;
    await tx`
      insert into service.waiting (intent, kind, chain_id, payer, premium, group_id, created_at, wake_at)
      select id, 'purchase', chain_id, buyer, quoted_premium, id, now() - make_interval(secs => ${age}), now()
      from service.purchase where id = any(${ids}::uuid[]) and not ${forget}`;
    await tx`
      delete from service.attempt where transaction_id in (
        select id from service.transaction where intent = any(${intents}::uuid[]))`;
    await tx`delete from service.transaction where intent = any(${intents}::uuid[])`;
    // As on a server that was started since: a writer sees it by that alone.
    await tx`update service.relayer_wallet 
        set compared_with = null, fenced_with = null, fence_with = null, fence_from = null, fence_below = null`;
    if (forget) await tx`delete from service.purchase where id = any(${ids}::uuid[])`;
    for (const { wallet, nonce } of lost) {
      await tx`
        update service.relayer_wallet set next_nonce = least(next_nonce, ${nonce}), open_from = least(open_from, ${nonce}),
          final_below = least(final_below, ${nonce}) where address = ${wallet}`;
    }
  });
}

/** Takes the ledger back to before this purchase's bytes were stored: its transaction has a nonce only. */
export async function loseBytes(sql: Sql, purchase: string): Promise<void> {
  await sql.begin(async (tx) => {
    const [transaction] = await tx<{ id: string; nonce: string }[]>`
      update service.transaction set hash = null, block_number = null, block_hash = null, outcome = null, gas_cost = null,
        settled_at = null, policy_id = null, premium_paid = null, final_at = null
      where intent = ${purchase} returning id, nonce`;
    if (!transaction) throw new Error(`no transaction of purchase ${purchase}`);
    await tx`delete from service.attempt where transaction_id = ${transaction.id}`;
    await tx`update service.relayer_wallet set open_from = least(open_from, ${transaction.nonce})`;
  });
}
