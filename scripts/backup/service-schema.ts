/** The tables of schema `service` that a backup has. */
import type { ISql } from "postgres";
import type { BackupTable } from "./format.ts";

type Table = Omit<BackupTable, "rows">;

/**
 * All tables but the list of migrations, and unlogged ones, which a crash of the server empties as well; a table comes after those
 * that its foreign keys refer to. Generated columns are left out.
 */
export async function serviceTables(sql: ISql): Promise<Table[]> {
  const rows = await sql<(Table & { references: string[] })[]>`
    select c.relname as name, (
        select json_agg(a.attname order by a.attnum) from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns, (
        select coalesce(json_agg(f.relname), '[]') from pg_constraint k join pg_class f on f.oid = k.confrelid
        where k.conrelid = c.oid and k.contype = 'f' and f.oid <> c.oid) as references
    from pg_class c
    where c.relnamespace = to_regnamespace('service') and c.relkind = 'r' and c.relpersistence = 'p'
      and c.relname <> 'migration'
    order by c.relname`;
  const ordered: Table[] = [];
  const isOrdered = (name: string) => ordered.some((table) => table.name === name);
  for (let left = [...rows]; left.length > 0; left = left.filter(({ name }) => !isOrdered(name))) {
    const next = left.filter(({ references }) => references.every(isOrdered));
    if (next.length === 0) throw new Error(`foreign keys form a circle: ${left.map(({ name }) => name)}`);
    ordered.push(...next.map(({ name, columns }) => ({ name, columns })));
  }
  return ordered;
}
