import { ponder } from "ponder:registry";
import schema, { policy } from "ponder:schema";
import { getTableConfig } from "drizzle-orm/pg-core";
import { Client } from "pg";
import { createSums, keptTable, sumTriggers } from "./shared/sums/statements.ts";
import { sumsOf } from "./shared/sums/sum-table.ts";

/**
 * Lets Postgres keep the sums from the first row on. Ponder runs `setup` once it has created its tables, and again if it was
 * killed before the end of it. The statements go over a connection of their own: Ponder's would make it look up each row in
 * the database from then on.
 */
const namespace = getTableConfig(policy).schema ?? "public";
const sums = sumsOf(schema);

async function connected(use: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: process.env.DATABASE_URL });
  await client.connect();
  try {
    await use(client);
  } finally {
    await client.end();
  }
}

/** @throws when a trigger is not as declared */
async function requireTriggers(client: Client): Promise<void> {
  const expected = sumTriggers(sums, namespace);
  const { rows } = await client.query<{ name: string }>(
    `select e.source || '.' || e.name as name from unnest($2::text[], $3::text[], $4::text[]) e (source, name, body)
     where not exists (
       select 1 from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_proc p on p.oid = t.tgfoid
       where c.relnamespace = to_regnamespace(quote_ident($1)) and c.relname = e.source and t.tgname = e.name
         and t.tgenabled = 'O' and p.prosrc = e.body)`,
    [namespace, ...(["table", "name", "body"] as const).map((field) => expected.map((one) => one[field]))],
  );
  const missing = rows.map(({ name }) => name).join(", ");
  if (missing !== "") throw new Error(`the sums of schema ${namespace} lack these triggers: ${missing}`);
}

/** Whether Ponder has set this schema up before, and may have written rows. */
async function isSetUp(client: Client): Promise<boolean> {
  const checkpoints = `"${namespace}"._ponder_checkpoint`;
  const { rows } = await client.query("select to_regclass($1) as found where to_regclass($1) is not null", [
    checkpoints,
  ]);
  if (rows.length === 0) return false;
  return (await client.query(`select 1 from ${checkpoints} limit 1`)).rows.length > 0;
}

// At each start, before Ponder reverts the blocks that are not final.
await connected(async (client) => {
  if (await isSetUp(client)) await requireTriggers(client);
});

ponder.on("PolicyManager:setup", () =>
  connected(async (client) => {
    const { rows } = await client.query("select 1 where to_regclass($1) is null", [
      sums[0] && keptTable(sums[0], namespace),
    ]);
    // Several statements in one query are one transaction.
    if (rows.length > 0) await client.query(createSums(sums, namespace).join(";\n"));
    await requireTriggers(client);
  }),
);
