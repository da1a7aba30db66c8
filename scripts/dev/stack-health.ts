import { z } from "zod";
import { waitFor } from "../local/wait.ts";

const timeoutMs = 300_000;
/** A chain with a block each second is always one block ahead of its index. */
const LAG_LIMIT = 2;

const always: Readonly<Record<string, z.ZodType>> = {
  "/health": z.object({ status: z.literal("ok") }),
  "/api/v1/indexer/health": z.object({
    status: z.literal("synced"),
    lagBlocks: z.coerce.number().max(LAG_LIMIT),
  }),
};
const withTestnet: Readonly<Record<string, z.ZodType>> = {
  "/sandbox/info": z.object({ status: z.literal("ready") }),
  "/api/v1/faucet/status": z.object({ enabled: z.literal(true) }),
};

/**
 * Waits until `GET /health` is `ok` and the indexer has reached the chain's head, so that a first purchase shows in the
 * index. With a testnet it also waits until the sandbox's wallet, which starts empty, can buy and the faucet can pay.
 */
export async function waitUntilHealthy(apiUrl: string, { testnet }: { testnet: boolean }): Promise<void> {
  const wanted = { ...always, ...(testnet ? withTestnet : {}) };
  await Promise.all(
    Object.entries(wanted).map(([path, shape]) =>
      waitFor({
        what: `${path} to report a healthy stack`,
        async probe() {
          const response = await fetch(`${apiUrl}${path}`, { signal: AbortSignal.timeout(5_000) });
          shape.parse(await response.json());
          return true;
        },
        timeoutMs,
        intervalMs: 100,
      }),
    ),
  );
}
