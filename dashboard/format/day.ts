/** The start of a UTC day of the API (`2026-01-31`), Unix seconds. */
export const dayStart = (day: string): number => Date.parse(`${day}T00:00:00Z`) / 1000;
