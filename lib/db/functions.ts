/** The functions of the schema `service` with their triggers, and its views: a file each, named as what it defines. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TransactionSql } from "postgres";
import { projectRoot } from "../project-root.ts";

/** The text of the files; views come last, because Postgres compiles them at once. */
const definitions = (): string =>
  ["functions", "views"]
    .map((folder) => join(projectRoot, "lib", "db", folder))
    .flatMap((folder) =>
      readdirSync(folder, "utf8")
        .sort()
        .map((name) => readFileSync(join(folder, name), "utf8")),
    )
    .join("\n");

/** Drops the triggers, views and functions that this transaction has not defined. */
const dropUndefined = (tx: TransactionSql) =>
  tx.unsafe(`
    do $$ declare statement text; begin
      for statement in
        select d.statement from (
        select 1 as place, format('drop trigger %I on %s', t.tgname, t.tgrelid::regclass) as statement
        from pg_trigger t join pg_class c on c.oid = t.tgrelid
        where c.relnamespace = 'service'::regnamespace and not t.tgisinternal and t.xmin <> pg_current_xact_id()::xid
        union all select 2, format('drop view %s', c.oid::regclass)
        from pg_class c join pg_rewrite r on r.ev_class = c.oid
        where c.relnamespace = 'service'::regnamespace and c.relkind = 'v' and r.xmin <> pg_current_xact_id()::xid
        union all select 3, format('drop routine %s', p.oid::regprocedure) from pg_proc p
        where p.pronamespace = 'service'::regnamespace and p.xmin <> pg_current_xact_id()::xid
        ) d order by d.place
      loop execute statement; end loop;
    end $$`);

/**
 * Defines all functions, triggers and views when one of their texts differs from those applied last, and drops those without a file.
 * @param anew drops all of them first: `create or replace` changes neither a function's result nor a view's columns
 */
export async function defineFunctions(tx: TransactionSql, { anew }: { anew: boolean }): Promise<void> {
  const text = definitions();
  const hash = createHash("sha256").update(text).digest("hex");
  const [applied] = await tx<{ hash: string }[]>`select hash from service.applied_functions`;
  if (applied?.hash === hash) return;
  // A function may come before those that it calls.
  await tx`set local check_function_bodies = off`;
  if (anew) await dropUndefined(tx);
  await tx.unsafe(text);
  await dropUndefined(tx);
  await tx`delete from service.applied_functions`;
  await tx`insert into service.applied_functions (hash) values (${hash})`;
}
