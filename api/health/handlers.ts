import type { Dependencies } from "../dependencies.ts";
import type { Api } from "../http/env.ts";
import type { Readers } from "../readers.ts";
import { createHealth } from "./probes.ts";
import { healthRoute } from "./routes.ts";

export function addHealthRoutes(app: Api, deps: Dependencies, readers: Readers): void {
  const health = createHealth(deps, readers);
  app.openapi(healthRoute, async (c) => c.json(await health(), 200));
}
