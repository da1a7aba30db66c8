import { z } from "zod";
import { waitFor } from "../../lib/local/wait.ts";

const statusShape = z.object({ status: z.string() });
const timeoutMs = 120_000;

async function statusOf(url: string): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
  return statusShape.parse(await response.json()).status;
}

/** Waits until the api says that all is well: `GET /health` is `ok`, and the indexer is `synced`. */
export async function stackReady(apiUrl: string): Promise<void> {
  const wanted = { "/health": "ok", "/api/v1/indexer/health": "synced" };
  for (const [path, status] of Object.entries(wanted)) {
    let last = "no answer";
    await waitFor({
      what: `${path} to say ${status}`,
      async probe() {
        last = await statusOf(`${apiUrl}${path}`);
        if (last !== status) throw new Error(`its status is ${last}`);
        return true;
      },
      timeoutMs,
      intervalMs: 100,
    });
  }
}
