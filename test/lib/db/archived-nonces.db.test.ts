/** A database of before migration 0023, with rows: its archived nonces are known, and its wallets go on signing: an upgrade loses no commits. */
import { expect, test } from "vitest";
import { migrateService } from "../../../lib/db/migrate.ts";
import { uncomparedWallets } from "../../../workers/ledger/compared-wallets.ts";
import { databaseUpTo } from "./support/older-database.ts";

const [wallet, other] = [`0x${"a1".repeat(20)}`, `0x${"b2".repeat(20)}`] as const;
const sent = (by: string, nonce: number, state = "final") => ({ wallet: by, nonce: String(nonce), state });

test("the highest final nonce of each wallet among the archived purchases is taken over", async () => {
  const {
    databaseUrl,
    connection: { sql },
  } = await databaseUpTo("0021_gas_of_the_day");
  await sql`
    insert into service.relayer_wallet (chain_id, address, next_nonce)
    values (8453, ${wallet}, 9), (8453, ${other}, null)`;
  const histories = [
    [sent(wallet, 10, "lost"), sent(wallet, 4)],
    [sent(other, 2), sent(wallet, 8)],
  ];
  for (const history of histories)
    await sql`
      insert into service.archived_purchase (id, chain_id, wallet, fingerprint, product_id, coverage_amount, asset, buyer,
        quoted_premium, created_at, standing, state, settled_at, final_at, transactions)
      values (gen_random_uuid(), 8453, ${wallet}, 'f', 'p', 1, 'a', ${wallet}, 1, now(), true, 'confirmed', now(), now(),
        ${JSON.stringify(history)}::text::json)`;
  await migrateService(databaseUrl);
  expect([...(await sql`select wallet, nonce from service.archived_nonce order by wallet`)]).toEqual([
    { wallet, nonce: "8" },
    { wallet: other, nonce: "2" },
  ]);
  expect(await uncomparedWallets(sql, 8453)).toEqual([]);
});
