import type { Context } from "ponder:registry";

export type Db = Context["db"];

/** The fields that every log event of Ponder has. */
export type LogEvent = {
  block: { number: bigint; hash: `0x${string}`; timestamp: bigint };
  transaction: { hash: `0x${string}` };
  log: { logIndex: number; address: `0x${string}` };
};

/**
 * A row with these values at an event's position in the chain. An object literal that begins with a spread takes Node twenty times
 * as long, which is more than the rest of an insert: in projections spreads come last.
 */
export const rowAt = <const Values extends object>(
  { block, transaction, log }: LogEvent,
  values: Values,
) => ({
  blockNumber: block.number,
  logIndex: log.logIndex,
  blockHash: block.hash,
  blockTimestamp: block.timestamp,
  txHash: transaction.hash,
  ...values,
});

/**
 * Event arguments as JSON, by name: integers as decimal strings, hex in lower case, text without NUL characters. Postgres
 * rejects NUL, and a row that cannot be written would stop the index.
 */
export function jsonArguments(args: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [name, jsonValue(value)]));
}

function jsonValue(value: unknown): unknown {
  if (typeof value === "bigint" || typeof value === "number") return value.toString();
  if (typeof value === "string")
    return /^0x[0-9a-fA-F]*$/.test(value) ? value.toLowerCase() : withoutNul(value);
  if (Array.isArray(value)) return value.map(jsonValue);
  if (typeof value === "object" && value !== null) return jsonArguments(value);
  return value;
}

/** Text without NUL characters, which Postgres cannot store. */
export const withoutNul = (text: string): string => text.replaceAll("\0", "");
