/**
 * Serves the Model Context Protocol over stdio, for a host on the same machine: `npm run --silent mcp`. It calls the API at `API_URL`
 * with the key in `API_KEY`, and writes nothing but messages to its standard output.
 */
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";
import { createApiCall } from "../api/mcp/api-call.ts";
import { createCoverServer } from "../api/mcp/server.ts";

/** Longest wait for an answer, in ms: a purchase may take 30 s. */
const TIMEOUT_MS = 45_000;

const environment = z.object({
  API_URL: z
    .url({ protocol: /^https?$/, error: "must be an http or https address" })
    .default("http://127.0.0.1:8080"),
  // An empty variable counts as unset.
  API_KEY: z
    .string()
    .regex(/^(lk_[0-9a-f]{64})?$/, "must be lk_ and 64 hex digits")
    .default(""),
});

const { data: settings, error } = environment.safeParse(process.env);
if (error) {
  for (const { path, message } of error.issues) console.error(`${path.join(".")} ${message}`);
  process.exit(1);
}
const call = createApiCall((request) => fetch(request, { signal: AbortSignal.timeout(TIMEOUT_MS) }), {
  baseUrl: settings.API_URL.replace(/\/+$/, ""),
  headers: settings.API_KEY === "" ? {} : { "x-api-key": settings.API_KEY },
});
serveStdio(() => createCoverServer(call), { onerror: (fault) => console.error(fault.message) });
