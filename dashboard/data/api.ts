/** The API that served this page: the only place that the dashboard reads from. */
import { createClient } from "../../client/index.ts";

/** A read that takes longer than this is repeated, in ms: the page says meanwhile that the API is away. */
const TIMEOUT_MS = 10_000;

export const api = createClient({ baseUrl: "", timeoutMs: TIMEOUT_MS });
