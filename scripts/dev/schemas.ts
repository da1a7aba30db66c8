/** The schemas that a dev stack may drop: those that a former dev stack made, and no others. */
import postgres from "postgres";

const fixedSchemas: readonly string[] = ["service", "bullmq", "ponder_sync", "indexer"];
/** The indexer's deployments, whose names follow from their build. */
const deploymentSchema = /^idx_[0-9a-f]{12}$/;
/** An empty schema that a dev stack leaves in a database in which nobody else uses those names. It is not dropped. */
const marker = "cover_dev";

/**
 * Empties the database of what a former dev stack made, so that a fresh chain meets no row of an older one: Ponder's
 * cache of an earlier chain with the same id would otherwise be served as this one's.
 * @throws when a schema of one of our names stands there and no dev stack has run there: it holds somebody's data.
 */
export async function dropOwnSchemas(databaseUrl: string): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  try {
    await sql.begin(async (tx) => {
      const present = (await tx<{ name: string }[]>`select nspname as name from pg_namespace`).map(
        ({ name }) => name,
      );
      const ours = present.filter((name) => fixedSchemas.includes(name) || deploymentSchema.test(name));
      if (ours.length > 0 && !present.includes(marker)) {
        throw new Error(
          `DATABASE_URL leads to a database with the schemas ${ours.join(", ")}, which no dev stack made. ` +
            "A dev stack drops these at its start: give it a database of its own",
        );
      }
      for (const name of ours) await tx`drop schema ${tx(name)} cascade`;
      await tx`create schema if not exists ${tx(marker)}`;
    });
  } finally {
    await sql.end();
  }
}
