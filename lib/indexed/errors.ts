/** How Postgres answers a read of the indexed tables that comes before they are there, or while they are replaced. */

const sqlState = (error: unknown) =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";

/** No views, none for this table yet, or those of another build: there is nothing to read for us. */
export const isNotBuilt = (error: unknown) => ["42P01", "3F000", "42703"].includes(sqlState(error));
/** The views were replaced under the query ("could not open relation", deadlock, changed plan): the next try finds the new ones. */
export const isSwap = (error: unknown) => ["XX000", "40P01", "0A000"].includes(sqlState(error));
