import type { Api } from "../http/env.ts";
import { indexAge } from "../indexed/index-age.ts";
import { indexerStatus, readIndexPosition } from "../indexed/status.ts";
import { createHealth, type HealthParts } from "./probes.ts";
import { healthRoute, indexerHealthRoute } from "./routes.ts";

export function addHealthRoutes(app: Api, parts: HealthParts): void {
  const health = createHealth(parts);
  app.openapi(healthRoute, async (c) => c.json(await health(), 200));

  app.openapi(indexerHealthRoute, async (c) => {
    const [position, head] = await Promise.all([readIndexPosition(parts), parts.chain.recentHead()]);
    const { status, condition, lastSyncedBlock, headBlock, lagBlocks } = indexerStatus(position, head);
    c.header("Cache-Control", "no-store");
    if (lastSyncedBlock > 0n) c.header("x-indexed-block", String(lastSyncedBlock));
    if (position.timestamp !== undefined)
      c.header("x-index-age", indexAge({ timestamp: position.timestamp }));
    return c.json(
      {
        status,
        condition,
        lastSyncedBlock: String(lastSyncedBlock),
        headBlock: String(headBlock),
        lagBlocks: String(lagBlocks),
        headTimestamp: String(head.timestamp),
        heartbeatAt: position.heartbeatAt === null ? null : String(position.heartbeatAt),
      },
      200,
    );
  });
}
