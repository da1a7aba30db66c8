/** Ponder's modules, as they are published and as our indexer's bundle has them. */
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import type pg from "pg";
import { inject } from "vitest";
import { z } from "zod";
import type { PonderText } from "../../../../scripts/build/indexer-bundle.ts";
import { changedImports, ponder, ponderChanges } from "../../../../scripts/build/ponder-changes.ts";
import { changedPackage } from "../../../../scripts/build/text-changes.ts";
import { requireForPackages } from "../../../../scripts/build.ts";

/** `common`, and `open`, Ponder's way to a pool of `createPool`, made of its own parts; it logs nothing. */
const OWN_PARTS = `
import { drizzle } from "drizzle-orm/node-postgres";
import { createQB } from "./database/queryBuilder.js";
import { createLogger } from "./internal/logger.js";
import { MetricsService } from "./internal/metrics.js";
import { createShutdown } from "./internal/shutdown.js";
import pg from "pg";
const common = {
  options: { databaseMaxQueryParameters: 16_000, indexingCacheMaxBytes: 1_000_000_000 },
  logger: createLogger({ level: "silent" }),
  metrics: new MetricsService(),
  shutdown: createShutdown(),
};
export const createPool = (connectionString) => new pg.Pool({ connectionString, max: 6 });
const open = (pool) => createQB(drizzle(pool, { casing: "snake_case" }), { common, isAdmin: false });
`;

/** Checks the function that makes a pool: Ponder takes only pools of its own bundle's driver. */
export const poolFactory = z.custom<(databaseUrl: string) => pg.Pool>((value) => typeof value === "function");

/**
 * Runs `source`, a module that may import Ponder's files and has `common` and `open`, with our changes of `files` or without.
 * @returns its exports, as `exports` describes them
 */
export async function loadPonder<Exports extends z.ZodType>(
  text: PonderText,
  source: string,
  { files, exports }: { readonly files: readonly string[]; readonly exports: Exports },
): Promise<z.output<Exports>> {
  const outfile = join(mkdtempSync(join(inject("runFolder"), "ponder-")), "modules.mjs");
  const changes = Object.fromEntries(
    files.map((file) => {
      const ofFile = ponderChanges.files[file];
      if (ofFile === undefined) throw new Error(`Ponder's ${file} is not changed`);
      return [file, ofFile];
    }),
  );
  await build({
    stdin: { contents: OWN_PARTS + source, resolveDir: ponder },
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "error",
    alias: changedImports,
    banner: { js: requireForPackages },
    external: ["pg-native", "@electric-sql/pglite"],
    plugins: text === "changed" ? [changedPackage({ ...ponderChanges, files: changes })] : [],
  });
  return exports.parse(await import(outfile));
}
