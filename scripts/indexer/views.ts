/** The stable views that readers use, on the schema of one build, and the block of its rows. */
import type { ISql, TransactionSql } from "postgres";
import { z } from "zod";

/** A build's schema, and that of the stable views. */
export type Build = { readonly schema: string; readonly viewsSchema: string };

/** The schema of the build behind the views; undefined without views. */
export async function servedSchema(sql: ISql, viewsSchema: string): Promise<string | undefined> {
  const [row] = await sql<{ name: string }[]>`
    select space.nspname as name
    from pg_rewrite rule
    join pg_depend uses on uses.classid = 'pg_rewrite'::regclass and uses.objid = rule.oid
    join pg_class used on uses.refclassid = 'pg_class'::regclass and used.oid = uses.refobjid
    join pg_namespace space on space.oid = used.relnamespace
    where rule.ev_class = to_regclass(${`"${viewsSchema}".head`}) and used.relname = 'head' and space.nspname <> ${viewsSchema}
    limit 1`;
  return row?.name;
}

/** SQL that drops the views on any build; null when there are none. */
const dropViews = (tx: ISql, viewsSchema: string) => tx<{ statements: string | null }[]>`
  select string_agg(distinct format('drop view %I.%I', view_schema, view_name), '; ') as statements
  from information_schema.view_table_usage
  where view_schema = ${viewsSchema} and table_schema in (select schema_name from service.indexer_deployment)`;

/**
 * SQL that makes a view of each table and view that Ponder knows of. The view of the head is empty while the build catches up:
 * every read joins the head.
 */
const createViews = (tx: ISql, { schema, viewsSchema }: Build) => tx<{ statements: string | null }[]>`
  select string_agg(format('create view %I.%I as select * from %I.%I', ${viewsSchema}::text, name, ${schema}::text, name)
    || case name when 'head' then format(
      ' where not exists (select from service.indexer_deployment where schema_name = %L and catching_up)', ${schema}::text)
      else '' end, '; ') as statements
  from (
    select jsonb_array_elements_text(
      (value -> 'table_names') || (value -> 'view_names') || '["_ponder_meta", "_ponder_checkpoint"]') as name
    from ${tx(schema)}._ponder_meta where key = 'app') known`;

/** SQL that notifies `<views>_live_query` of each checkpoint of a build. */
const notifyReaders = (tx: ISql, { schema, viewsSchema }: Build) => tx<{ statements: string | null }[]>`
  select format(
    'create or replace function %1$I.notify_readers() returns trigger language plpgsql as $$
       begin perform pg_notify(%2$L, ''''); return null; end $$;
     create or replace trigger notify_readers after insert or update or delete on %3$I._ponder_checkpoint
       for each statement execute function %1$I.notify_readers()',
    ${viewsSchema}::text, ${`${viewsSchema}_live_query`}::text, ${schema}::text) as statements`;

/** Puts the views on the schema of a build, in the caller's transaction. Readers wait for its end. */
export async function replaceViews(tx: TransactionSql, build: Build): Promise<void> {
  const parts = await Promise.all([
    dropViews(tx, build.viewsSchema),
    createViews(tx, build),
    notifyReaders(tx, build),
  ]);
  // One round trip: readers wait while the views are replaced.
  await tx.unsafe(parts.flatMap(([row]) => row?.statements ?? []).join(";\n"));
}

const position = z.object({
  ready: z.boolean(),
  block: z.string().regex(/^\d+$/).transform(BigInt).nullable(),
});

/**
 * The block of a build's rows, null while there is none; and whether Ponder has finished its backfill. Ponder reads the blocks
 * before its start without a block event for each: their logs arrive, and the head stays behind them until the first live block.
 * From then on each commit has its head.
 */
export async function indexedBlock(sql: ISql, schema: string): Promise<z.output<typeof position>> {
  const own = sql(schema);
  const [row] = await sql`
    select coalesce((select value ->> 'is_ready' = '1' from ${own}._ponder_meta where key = 'app'), false) as ready,
      (select h.number::text from ${own}.head h where not exists (
        select from ${own}._ponder_checkpoint c
        where c.chain_id = h.chain_id and substr(c.latest_checkpoint, 27, 16)::numeric > h.number)) as block`;
  return position.parse(row);
}
