import type { WriterConfig } from "../../lib/config.ts";
import { errorText, type Logger } from "../../lib/log.ts";

/** The servers of the writer's queues; errors are logged under the name `name`. */
export const queueOptionsOf = (
  config: Pick<WriterConfig, "DATABASE_URL" | "REDIS_URL">,
  log: Logger,
  name = "the queue",
) => ({
  databaseUrl: config.DATABASE_URL,
  redisUrl: config.REDIS_URL,
  onError: (error: Error) => log.warn({ err: errorText(error) }, `${name} reports an error`),
});
