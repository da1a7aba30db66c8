import type { WriterConfig } from "../lib/config.ts";
import { errorText, type Logger } from "../lib/log.ts";

/** Where the writer's queues are; the log hears of the trouble of `what`. */
export const queueOptionsOf = (
  config: Pick<WriterConfig, "DATABASE_URL" | "REDIS_URL">,
  log: Logger,
  what = "the queue",
) => ({
  databaseUrl: config.DATABASE_URL,
  redisUrl: config.REDIS_URL,
  onError: (error: Error) => log.warn({ error: errorText(error) }, `${what} reports an error`),
});
