/** A policy's status, by `policyStatus` and by the same conditions in SQL. */
import { type SQL, sql } from "drizzle-orm";
import { drizzle, type PostgresJsDatabase } from "drizzle-orm/postgres-js";
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { distanceBps } from "../../api/chain/policy-body.ts";
import { connect } from "../../lib/db/connect.ts";
import {
  hasStatus,
  isOpen,
  type PolicyTimes,
  policyStatus,
  policyStatuses,
} from "../../lib/indexed/policy-status.ts";
import { atEnd } from "../support/cleanup.ts";
import { freshDatabase } from "../support/database.ts";

let db: PostgresJsDatabase;
beforeAll(async () => {
  const connection = connect(await freshDatabase(), { name: "test", max: 1 });
  atEnd(connection.close);
  db = drizzle(connection.sql);
});

type Row = Omit<PolicyTimes, "expiresAt"> & { readonly expiresAt: bigint | null };

const numeric = (value: bigint | null): SQL => sql`${value === null ? null : String(value)}::numeric`;

const answers = z.array(z.record(z.string(), z.boolean().nullable())).length(1);

/** The statuses that a row has in SQL, and `open` if it is open. */
async function statusesOf(row: Row, now: bigint): Promise<string[]> {
  const columns = {
    triggeredAt: numeric(row.triggered ? 50n : null),
    expiresAt: numeric(row.expiresAt),
  };
  const conditions = policyStatuses.map(
    (status) =>
      sql`${hasStatus(columns, status, now, { replaced: row.replaced === true })} as ${sql.identifier(status)}`,
  );
  const open = row.replaced ? sql`false` : isOpen(columns, now);
  const [found = {}] = answers.parse([
    ...(await db.execute(sql`select ${sql.join(conditions, sql`, `)}, ${open} as open`)),
  ]);
  return Object.keys(found).filter((name) => found[name]);
}

const open: PolicyTimes = { triggered: false, expiresAt: 200n };

test.each<[name: string, policy: PolicyTimes, now: bigint, status: string]>([
  ["is active from the start", open, 0n, "Active"],
  ["is active in its last second", open, 200n, "Active"],
  ["is expired a second after its last", open, 201n, "Expired"],
  ["is triggered whatever the time", { ...open, triggered: true }, 999n, "Triggered"],
  ["is expired once its key has come again", { ...open, replaced: true }, 0n, "Expired"],
  ["was paid before its key came again", { ...open, replaced: true, triggered: true }, 0n, "Triggered"],
])("a policy %s", async (_, policy, now, status) => {
  expect(policyStatus(policy, now)).toBe(status);
  expect(await statusesOf(policy, now)).toEqual([status, ...(status === "Active" ? ["open"] : [])]);
});

test("at every time a row has the status in SQL that it has in TypeScript, and no other", async () => {
  const flags = [false, true];
  for (const triggered of flags)
    for (const replaced of flags)
      for (const now of [9n, 19n, 20n, 21n, 30n]) {
        const policy = { triggered, replaced, expiresAt: 20n };
        const statuses = await statusesOf(policy, now);
        expect(statuses.filter((name) => name !== "open")).toEqual([policyStatus(policy, now)]);
      }
});

test("without a known expiry an untriggered row has no status in SQL, a triggered one has its own", async () => {
  const unknown: Row = { ...open, expiresAt: null };
  expect(await statusesOf(unknown, 50n)).toEqual([]);
  expect(await statusesOf({ ...unknown, triggered: true }, 50n)).toEqual(["Triggered"]);
});

test("the distance to the trigger is above zero exactly while the price is above the trigger", () => {
  const trigger = 58_500n * 10n ** 18n;
  expect(distanceBps(60_000n * 10n ** 18n, trigger)).toBe(250);
  expect(distanceBps(trigger + 1n, trigger)).toBe(1);
  expect(distanceBps(trigger, trigger)).toBe(0);
  expect(distanceBps(trigger - 1n, trigger)).toBe(0);
  expect(distanceBps(50_000n * 10n ** 18n, trigger)).toBe(-1700);
});
