/**
 * Accepting purchases, repeating calls and archiving, in a ledger with a million current purchases: with an empty archive, and
 * with a million archived purchases.
 */
import { randomUUID } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { acceptPurchases, type QuotedIntent } from "../api/buying/accept-purchases.ts";
import { type Connection, connect } from "../lib/db/connect.ts";
import { migrateService } from "../lib/db/migrate.ts";
import { readPurchase } from "../lib/ledger/purchases.ts";
import { freePort } from "../scripts/local/ports.ts";
import { startPostgres } from "../scripts/local/postgres.ts";
import { archivePurchases } from "../workers/ledger/archive.ts";
import { archiveRows, buyerOf, filled, fillLedger, idOf } from "./fill-ledger.ts";
import { type Finding, median, report } from "./report.ts";

const MILLION = Number(process.env.BENCH_LEDGER_ROWS || 1_000_000);
const CALLS = 500;

const intentOf = (n: number, idempotencyKey: string): QuotedIntent => ({
  ...{ chainId: filled.chainId, router: filled.relayer, wallet: buyerOf(n), keyId: null, idempotencyKey },
  request: {
    productId: `0x${"1".repeat(64)}`,
    coverageAmount: 100_000_000n,
    asset: `0x${"2".repeat(64)}`,
    buyer: buyerOf(n),
  },
  quotedPremium: 292_000n,
  funds: { block: BigInt(MILLION), balance: 10n ** 18n, allowance: 10n ** 18n },
});

/** The median time of a call, in ms, with calls one after the other. */
async function timeOf(call: (n: number) => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < CALLS; n += 1) {
    const begun = performance.now();
    await call(n);
    times.push(performance.now() - begun);
  }
  return median(times);
}

async function measure(connection: Connection, what: string): Promise<Finding[]> {
  const accept = await timeOf((n) => acceptPurchases(connection, [intentOf(n, randomUUID())]));
  const repeat = await timeOf((n) =>
    acceptPurchases(connection, [intentOf(MILLION / 2 + n, `hot ${MILLION / 2 + n}`)]),
  );
  const read = await timeOf((n) => readPurchase(connection.sql, idOf(MILLION / 2 + n)));
  return [
    { what: `${what}: accepting a purchase`, value: accept, unit: "ms" },
    { what: `${what}: a repeated call`, value: repeat, unit: "ms" },
    { what: `${what}: reading a purchase`, value: read, unit: "ms" },
  ];
}

export async function benchLedger(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "bench-"));
  const server = await startPostgres({
    dataDir: join(folder, "postgres"),
    port: await freePort(),
    logFile: join(folder, "postgres.log"),
    settings: { max_wal_size: "4GB" },
  });
  try {
    await migrateService(server.url);
    const connection = connect(server.url, { name: "bench", max: 1, statementTimeout: 0 });
    const { sql } = connection;
    await fillLedger(sql, MILLION);
    await measure(connection, "warm-up");
    const findings = await measure(connection, "empty archive");
    await archiveRows(sql, MILLION, MILLION);
    await measure(connection, "warm-up");
    findings.push(...(await measure(connection, "million archived")));
    const old = await timeOf((n) =>
      acceptPurchases(connection, [intentOf(MILLION + n + 1, `old ${MILLION + n + 1}`)]),
    );
    findings.push({ what: "million archived: a repeated call for one of them", value: old, unit: "ms" });
    const begun = performance.now();
    const batches = 50;
    let archived = 0;
    for (let batch = 0; batch < batches; batch += 1) {
      archived += await archivePurchases(sql, filled.chainId, filled.days / 2);
    }
    const ms = performance.now() - begun;
    findings.push({ what: `archiving a batch of ${archived / batches}`, value: ms / batches, unit: "ms" });
    const [size] = await sql<{ hot: number; archive: number }[]>`
      select sum(pg_total_relation_size(c.oid)) filter (where relname <> 'archived_purchase') / 1e6 as hot,
        sum(pg_total_relation_size(c.oid)) filter (where relname = 'archived_purchase') / 1e6 as archive
      from pg_class c where relnamespace = 'service'::regnamespace and relkind = 'r'`;
    findings.push({ what: "a million current purchases", value: Number(size?.hot), unit: "MB" });
    findings.push({ what: "a million archived purchases", value: Number(size?.archive), unit: "MB" });
    report(`ledger: ${MILLION} current and as many archived purchases`, findings);
    await connection.close();
  } finally {
    await server.remove();
  }
}
