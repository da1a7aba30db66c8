/** The Postgres driver through which Ponder sends its statements. */
import { createRequire } from "node:module";
import type { Client } from "pg";
import { z } from "zod";
import { ponderManifest } from "./schema-name.ts";

const driver = z.object({ Client: z.custom<typeof Client>((value) => typeof value === "function") });

/** A statement as Ponder passes it on: text, or an object with the text. */
export type Statement = unknown;

/** Changes how Ponder sends statements. Call it before Ponder starts. `send` sends one on the same connection. */
export function interceptStatements(
  intercept: (statement: Statement, send: (statement: Statement) => unknown) => unknown,
): void {
  // Loaded as Ponder loads it, because a bundle would have a copy of its own.
  const { prototype } = driver.parse(createRequire(ponderManifest)("pg")).Client;
  const query = prototype.query;
  Object.assign(prototype, {
    query(this: Client, statement: Statement, ...more: unknown[]): unknown {
      return intercept(statement, (sent) => Reflect.apply(query, this, [sent, ...more]));
    },
  });
}
