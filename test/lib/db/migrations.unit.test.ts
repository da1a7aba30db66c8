/** A database that has a migration never runs it again: an edited file would leave older databases without the edit. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { projectRoot } from "../../../lib/project-root.ts";

const folder = join(projectRoot, "lib", "db", "migrations");

/** Each migration's SHA-256, its first 16 digits. A new one is added; none is ever changed. */
const frozen: Readonly<Record<string, string>> = {
  "0001_api_keys.sql": "a0916059c35b5e7c",
  "0002_indexer.sql": "885b28192f68d3d4",
  "0003_purchases.sql": "e0ad6e8c46290734",
  "0004_service_transactions.sql": "b40f325ab3f62023",
  "0005_transactions.sql": "a946d95ba06311b1",
  "0006_accept_purchase.sql": "caa23401cbc0068b",
  "0007_faucet.sql": "324ce36f45ae6d05",
  "0008_webhooks.sql": "837927edfa8bcd9b",
  "0009_api_role.sql": "b1325455eab9ac42",
  "0010_reports.sql": "944c2f6e5b0fdc19",
  "0011_price_proofs.sql": "5a44f4cdb87e8a17",
  "0012_indexed_feeds.sql": "2893781f5c3ce528",
  "0013_archive.sql": "145c73c7ff17cc5d",
  "0014_keeper.sql": "8d963b1b9a748d60",
  "0015_last_block.sql": "519aee3fd617996e",
  "0016_outbox_at_scale.sql": "e10d2d2821ad5d0b",
  "0017_operator.sql": "8fac1b147615ee71",
  "0018_traces.sql": "1e125a6488d132dc",
  "0019_older_databases.sql": "51555e761e8167f6",
  "0020_answers_of_a_batch.sql": "2bc43cd650b98011",
  "0021_gas_of_the_day.sql": "54d687d9e252a2cf",
  "0022_keys_and_claims.sql": "fbe84e69d7576174",
  "0023_compared_wallets.sql": "e7dae71876dbeeef",
};

test("no migration has changed since databases have it", () => {
  const files = readdirSync(folder).filter((name) => name.endsWith(".sql"));
  const hashes = files.map((name) => [
    name,
    createHash("sha256")
      .update(readFileSync(join(folder, name)))
      .digest("hex")
      .slice(0, 16),
  ]);
  expect(Object.fromEntries(hashes)).toEqual(frozen);
});
