import type { Dependencies } from "../dependencies.ts";
import type { Api } from "../http/env.ts";
import { indexerStatus, readIndexPosition } from "../index/status.ts";
import type { Readers } from "../readers.ts";
import { indexerHealthRoute } from "./indexer.routes.ts";

/** The index's own position. */
export function addIndexerRoutes(app: Api, deps: Dependencies, readers: Readers): void {
  app.openapi(indexerHealthRoute, async (c) => {
    const [position, head] = await Promise.all([readIndexPosition(deps), readers.chain.recentHead()]);
    const { status, condition, lastSyncedBlock, headBlock, lagBlocks } = indexerStatus(
      position,
      head,
      Date.now(),
    );
    c.header("Cache-Control", "no-store");
    if (lastSyncedBlock > 0n) c.header("x-indexed-block", String(lastSyncedBlock));
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
