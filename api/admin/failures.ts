import { failures } from "../http/error-envelope.ts";

/** The errors of every operator's route. */
export const adminCodes = [
  "validation_error",
  "unauthenticated",
  "forbidden",
  "internal_error",
  "database_unavailable",
  "chain_not_found",
] as const;

/** A page, or one of the errors of a read. */
export const adminPage = <Schema>(schema: Schema) => ({
  200: { description: "One page.", content: { "application/json": { schema } } },
  ...failures(...adminCodes),
});

export const adminOnly = [{ adminToken: [] }];
