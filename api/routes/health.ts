import type { Dependencies } from "../dependencies.ts";
import type { Api } from "../env.ts";
import { createHealth } from "../health.ts";
import type { Readers } from "../readers.ts";
import { healthRoute } from "./health.routes.ts";

export function addHealthRoutes(app: Api, deps: Dependencies, readers: Readers): void {
  const health = createHealth(deps, readers);
  app.openapi(healthRoute, async (c) => c.json(await health(), 200));
}
