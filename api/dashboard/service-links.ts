import { API_VERSION } from "../http/api-version.ts";

/** What programs get at `/`: where everything is. */
export const serviceLinks = (docs: readonly string[]) => ({
  service: "parametric-cover-service",
  version: API_VERSION,
  explorer: "/api-docs",
  openapi: "/openapi.json",
  health: "/health",
  docs: [...docs],
});
export type ServiceLinks = ReturnType<typeof serviceLinks>;
