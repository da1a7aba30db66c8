import { pino } from "pino";

/** The logger of a process: JSON lines on standard output, with secrets redacted. */
export function createLogger(name: string, level: string) {
  return pino({
    name,
    level,
    redact: {
      paths: [
        ...['*["x-api-key"]', "*.authorization", '*["x-admin-token"]'],
        ...["*.apiKey", "apiKey", "*.privateKey", "*.serialized"],
      ],
      censor: "[secret]",
    },
  });
}

export type Logger = ReturnType<typeof createLogger>;

/** The message of an error; of viem's errors the short one, because the long one contains the whole request. */
export function errorText(error: unknown): string {
  if (error instanceof Error) return "shortMessage" in error ? String(error.shortMessage) : error.message;
  return String(error);
}
