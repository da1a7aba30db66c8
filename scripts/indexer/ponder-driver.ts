/** The Postgres driver through which Ponder sends its statements. */
import pg from "pg";

/** A statement as Ponder passes it on: text, or an object with the text. */
export type Statement = unknown;

/** Changes how Ponder sends statements. Call it before Ponder starts. `send` sends one on the same connection. */
export function interceptStatements(
  intercept: (statement: Statement, send: (statement: Statement) => unknown) => unknown,
): void {
  const { prototype } = pg.Client;
  const query = prototype.query;
  Object.assign(prototype, {
    query(this: pg.Client, statement: Statement, ...more: unknown[]): unknown {
      return intercept(statement, (sent) => Reflect.apply(query, this, [sent, ...more]));
    },
  });
}
