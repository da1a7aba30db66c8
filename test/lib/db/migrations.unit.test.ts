/** A database that has a migration never runs it again: an edited file would leave older databases without the edit. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { projectRoot } from "../../../lib/project-root.ts";

const folder = join(projectRoot, "lib", "db", "migrations");

/** Each migration's SHA-256, its first 16 digits. A new one is added; none is ever changed. */
const frozen: Readonly<Record<string, string>> = {
  "0001_tables.sql": "5f57a86fb0ef8f18",
  "0002_verified_webhooks.sql": "d6bedeeba8d40094",
  "0003_intent_marks.sql": "4b805208976cb1da",
  "0004_fences.sql": "b014f48ec8ae691b",
  "0005_is_withheld.sql": "151460f42ce64b12",
  "0006_gas_of_code.sql": "6c8f93de332b658a",
};

test("no migration has changed since databases have it", () => {
  const hashes = readdirSync(folder).map((name) => [
    name,
    createHash("sha256")
      .update(readFileSync(join(folder, name)))
      .digest("hex")
      .slice(0, 16),
  ]);
  expect(Object.fromEntries(hashes)).toEqual(frozen);
});
