/** Drops the schemas that an earlier dev stack made, and no others. */
import postgres from "postgres";

const fixedSchemas: readonly string[] = ["service", "bullmq", "ponder_sync", "indexer"];
/** The schemas of the indexer's deployments; their names are hashes of the build. */
const deploymentSchema = /^idx_[0-9a-f]{12}$/;
/** An empty schema that marks a database as a dev stack's. It stays. */
const marker = "cover_dev";

/**
 * Drops all schemas of an earlier dev stack. Otherwise Ponder would answer from its cache of an earlier chain with the
 * same id.
 * @throws when one of the schemas exists but no dev stack has run there: it may hold real data.
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
          `the database of DATABASE_URL has the schemas ${ours.join(", ")}, which no dev stack made. ` +
            "A dev stack drops these at its start: give it a separate database",
        );
      }
      for (const name of ours) await tx`drop schema ${tx(name)} cascade`;
      await tx`create schema if not exists ${tx(marker)}`;
    });
  } finally {
    await sql.end();
  }
}
