/** `npm run doctor` and standbys of Postgres: one is right in `DATABASE_READ_URL`, and wrong in `DATABASE_URL`. */
import postgres from "postgres";
import { beforeAll, expect, inject, test } from "vitest";
import { API_ROLE } from "../../lib/db/api-role.ts";
import { examineDatabase } from "../../scripts/doctor/database.ts";
import type { Finding } from "../../scripts/doctor/finding.ts";
import { examineStandby } from "../../scripts/doctor/standby.ts";
import { freePort } from "../../scripts/local/ports.ts";
import { startOwnPostgres } from "../support/own-postgres.ts";
import { startStandby, type TestStandby } from "../support/standby.ts";

let databaseUrl: string;
let standby: TestStandby;

beforeAll(async () => {
  ({ databaseUrl } = await startOwnPostgres("cover"));
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  await sql`create role ${sql(API_ROLE)} nologin`;
  await sql.end();
  standby = await startStandby(databaseUrl);
});

const examined = (url: string) => examineStandby({ DATABASE_URL: databaseUrl, DATABASE_READ_URL: url });
const levelsAndTexts = (findings: readonly Finding[]) => findings.map(({ level, text }) => [level, text]);

test("the standby of the database is right for reads", async () => {
  expect(levelsAndTexts(await examined(standby.databaseUrl))).toEqual([
    ["ok", "the api can read from the standby"],
  ]);
});

test("without the variable there is nothing to say", async () => {
  expect(await examineStandby({ DATABASE_URL: databaseUrl, DATABASE_READ_URL: undefined })).toEqual([]);
});

test("a standby in DATABASE_URL is a fault", async () => {
  const settings = { indexer: undefined, api: undefined, writer: undefined };
  const url = standby.databaseUrl;
  const findings = await examineDatabase({ url, processes: ["api"], settings, local: true });
  expect(levelsAndTexts(findings)).toContainEqual([
    "fault",
    "DATABASE_URL leads to a standby, which takes no writes",
  ]);
});

test("another server or another database is a fault, and a primary a warning", async () => {
  const otherDatabase = new URL(standby.databaseUrl);
  otherDatabase.pathname = "/postgres";
  for (const url of [inject("postgresUrl"), otherDatabase.href]) {
    expect(levelsAndTexts(await examined(url))).toEqual([
      ["fault", expect.stringContaining("no copy of that of DATABASE_URL")],
    ]);
  }
  expect(levelsAndTexts(await examined(databaseUrl))).toEqual([
    ["warning", expect.stringContaining("leads to no standby")],
  ]);
});

test("a standby that is away, or that the role may not read, is a warning: reads stay with the primary", async () => {
  const away = `postgres://127.0.0.1:${await freePort()}/cover`;
  const unknown = new URL(standby.databaseUrl);
  unknown.username = "nobody";
  for (const url of [away, unknown.href]) {
    expect(levelsAndTexts(await examined(url))).toEqual([
      ["warning", expect.stringContaining("reads stay with the primary")],
    ]);
  }
});
