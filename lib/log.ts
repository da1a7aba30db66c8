import { pino } from "pino";

/** A process's own logger: JSON lines on standard output, secrets cut out wherever they stand. */
export function createLogger(name: string, level: string) {
  return pino({
    name,
    level,
    redact: {
      paths: ['*["x-api-key"]', '*["x-admin-token"]', "*.apiKey", "apiKey", "*.privateKey", "*.serialized"],
      censor: "[secret]",
    },
  });
}

export type Logger = ReturnType<typeof createLogger>;

/** A line for the log: viem's errors carry the whole request, so only their short message is kept. */
export function errorText(error: unknown): string {
  if (error instanceof Error) return "shortMessage" in error ? String(error.shortMessage) : error.message;
  return String(error);
}
