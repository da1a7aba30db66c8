/** The SQLSTATE with which Postgres refused a statement; "" for an error of another kind. */
export const sqlState = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
