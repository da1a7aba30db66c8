/** What this proves: what we change in postgres.js (`scripts/build/postgres-changes.ts`) for the speed of reads gives the same answers. */
import { beforeAll, expect, test } from "vitest";
import { type Connection, connect } from "../../../lib/db/connect.ts";
import { waitFor } from "../../../scripts/local/wait.ts";
import { atEnd } from "../../support/cleanup.ts";
import { freshDatabase } from "../../support/database.ts";

let databaseUrl: string;
beforeAll(async () => {
  databaseUrl = await freshDatabase();
});

function openOne(): Connection["sql"] {
  const connection = connect(databaseUrl, { name: "test", max: 1 });
  atEnd(connection.close);
  return connection.sql;
}

const preparedTexts = async (sql: Connection["sql"], part: string) => {
  const rows = await sql<{ statement: string }[]>`select statement from pg_prepared_statements`;
  return rows.map(({ statement }) => statement).filter((statement) => statement.includes(part));
};

test("a text is prepared once, for parameters of other types again, and other texts beside it", async () => {
  const sql = openOne();
  const shown = async (value: string | boolean) => {
    const [row] = await sql<{ shown: unknown }[]>`select ${value} as shown, 'a' as text`;
    return row?.shown;
  };
  for (const _ of [1, 2]) {
    expect(await shown("text")).toBe("text");
    expect(await shown(true)).toBe(true);
    const [other] = await sql<{ shown: string }[]>`select ${"text"} as shown, 'b' as text`;
    expect(other?.shown).toBe("text");
  }
  expect(await preparedTexts(sql, "'a' as text")).toHaveLength(2);
  expect(await preparedTexts(sql, "'b' as text")).toHaveLength(1);
});

test("another connection prepares its own statements, in another order too", async () => {
  const [sql, admin] = [openOne(), openOne()];
  const read = async (which: "first" | "second") => {
    const text =
      which === "first" ? "select 'first' as which, $1::int as n" : "select $1::int as n, 'second' as which";
    return [...(await sql.unsafe(text, [7]))];
  };
  expect([await read("first"), await read("second")]).toEqual([
    [{ which: "first", n: 7 }],
    [{ n: 7, which: "second" }],
  ]);
  const sessionOf = async () => (await sql<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]?.pid;
  const first = await sessionOf();
  await admin`select pg_terminate_backend(${first ?? 0})`;
  await waitFor({
    what: "another connection",
    probe: async () => {
      const session = await sessionOf().catch(() => first);
      return session === first ? undefined : true;
    },
  });
  expect([await read("second"), await read("first")]).toEqual([
    [{ n: 7, which: "second" }],
    [{ which: "first", n: 7 }],
  ]);
});

test("a statement is prepared again when its result has another type", async () => {
  const sql = openOne();
  await sql`create table changed (n int)`;
  await sql`insert into changed values (7)`;
  const rows = async () => [...(await sql`select * from changed`)];
  expect(await rows()).toEqual([{ n: 7 }]);
  await sql`alter table changed alter n type text`;
  expect(await rows()).toEqual([{ n: "7" }]);
  expect(await rows()).toEqual([{ n: "7" }]);
});

test("a value of type varchar arrives as its bytes, and null as null", async () => {
  const sql = openOne();
  const long = "ö€𝄞".repeat(30_000);
  const [row] = await sql`
    select ${long}::varchar as bytes, null::varchar as nothing, ''::varchar as empty, ${long}::text as text, 5 as number`;
  expect(row).toEqual({
    ...{ bytes: Buffer.from(long), nothing: null, empty: Buffer.alloc(0) },
    ...{ text: long, number: 5 },
  });
  const [values] = await sql`select ${long}::varchar, 5`.values();
  expect(values).toEqual([Buffer.from(long), 5]);
});
