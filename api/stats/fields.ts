/** Types of fields that several statistics have, with their units. */
import { z } from "@hono/zod-openapi";
import { DecimalString, nullableDecimal, TxHash, UnixSeconds } from "../http/field-types.ts";

export const integer = (description: string, example: number) => z.int().openapi({ description, example });
export const decimal = (description: string, example: string) =>
  DecimalString.openapi({ description, example });
export const token = (what: string, example = "526000000000000000000") =>
  decimal(`${what} 18 decimals.`, example);
export const usdc = (what: string, example = "52600000") => decimal(`${what} USDC, 6 decimals.`, example);
export const dollars = (what: string, example: string) =>
  decimal(`${what} Whole dollars of face value.`, example);
export const nullableUsdc = (what: string, example: string) =>
  nullableDecimal(`${what} USDC, 6 decimals.`, example);

/** A quotient of two amounts, as `ratio` makes it. */
export const nullableRatio = (description: string, example: string) =>
  z
    .string()
    .regex(/^-?\d+\.\d{6}$/)
    .nullable()
    .openapi({
      description: `${description} A decimal fraction with 6 digits, rounded towards zero.`,
      example,
    });

/** An integer that may be below zero. */
export const signed = (description: string, example: string) =>
  z
    .string()
    .regex(/^-?\d+$/)
    .openapi({ description, example });

export const Day = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}$/)
  .openapi({ description: "UTC day.", example: "2026-01-31" });

/** The position of an event, in the statistics' snake_case. */
export const position = {
  tx_hash: TxHash,
  block_number: decimal("Block of the event.", "1234"),
  block_timestamp: UnixSeconds,
  log_index: integer("Index of the event's log in its block.", 5),
};
