import { z } from "@hono/zod-openapi";
import type { ErrorCode } from "../../lib/errors.ts";
import { failures } from "../http/error-envelope.ts";

/** The operator's routes ask for the admin token, and are kept by no cache. */
export const operatorRoute = { tags: ["operator"], security: [{ adminToken: [] }] };

/** The errors of the operator's routes. `chain_not_found`: the default token asks the node whether its chain is local. */
export const operatorFailures = (...more: readonly ErrorCode[]) =>
  failures(
    "unauthenticated",
    "forbidden",
    "internal_error",
    "database_unavailable",
    "chain_not_found",
    ...more,
  );

/** The responses of a read. */
export const operatorResponses = <Schema extends z.ZodType>(
  description: string,
  schema: Schema,
  ...more: readonly ErrorCode[]
) => ({
  200: { description, content: { "application/json": { schema } } },
  ...operatorFailures(...more),
});

export const count = z.int().openapi({ description: "Entries in this response.", example: 1 });
export const pageLimit = z.int().openapi({ example: 50 });

/** A duration until now, in whole seconds. */
export const seconds = (description: string) => z.int().openapi({ description, example: 12 });
export const nullableSeconds = (description: string) =>
  z.int().nullable().openapi({ description, example: 12 });

/** Seconds as a whole number, not below zero: two clocks may differ. */
export const wholeSeconds = (value: number): number => Math.max(0, Math.floor(value));
export const wholeSecondsOrNull = (value: number | null): number | null =>
  value === null ? null : wholeSeconds(value);

export const chainIdField = z.int().openapi({ description: "The chain's id.", example: 8453 });
