import { z } from "zod";
import { waitFor } from "../../lib/local/wait.ts";

const timeoutMs = 120_000;
/** A chain with a block each second is always one ahead. */
const LAG_LIMIT = 2;

const healthy = z.object({ status: z.literal("ok") });
const atTheHead = z.object({
  status: z.literal("synced"),
  lagBlocks: z.coerce.number().max(LAG_LIMIT),
});

/**
 * Waits until the api says that all is well: `GET /health` is `ok`, and the indexer is at the chain's head, so that
 * whoever reads what they have just bought finds it.
 */
export async function stackReady(apiUrl: string): Promise<void> {
  const wanted = { "/health": healthy, "/api/v1/indexer/health": atTheHead };
  for (const [path, shape] of Object.entries(wanted)) {
    await waitFor({
      what: `${path} to say that all is well`,
      async probe() {
        const response = await fetch(`${apiUrl}${path}`, { signal: AbortSignal.timeout(5_000) });
        shape.parse(await response.json());
        return true;
      },
      timeoutMs,
      intervalMs: 100,
    });
  }
}
