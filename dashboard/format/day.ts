/** Times that the API writes as text, as Unix seconds. */

/** The start of a UTC day (`2026-01-31`). */
export const dayStart = (day: string): number => Date.parse(`${day}T00:00:00Z`) / 1000;

/** A timestamp (`2026-01-31T12:00:00.000Z`). */
export const timestampSeconds = (timestamp: string): number => Math.floor(Date.parse(timestamp) / 1000);
