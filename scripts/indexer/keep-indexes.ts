/**
 * Keeps the indexes over a restart. Ponder drops them at each start and makes them anew, which takes seconds per million rows, and
 * reads would scan whole tables meanwhile. It makes only those that are missing.
 */
import { interceptStatements } from "./ponder-driver.ts";

const DROP_INDEX = "DROP INDEX IF EXISTS ";

/** Makes Ponder leave its indexes in place. Call it before Ponder starts. */
export function keepIndexes(): void {
  interceptStatements((statement, send) => {
    const isDrop =
      typeof statement === "object" &&
      statement !== null &&
      "text" in statement &&
      typeof statement.text === "string" &&
      statement.text.startsWith(DROP_INDEX);
    return send(isDrop ? { ...statement, text: "select" } : statement);
  });
}
