import type { HttpTransport } from "viem";
import { nodeTransport } from "../../lib/chain/node-transport.ts";

/** A local node on a busy machine may be silent for half a minute, and is well all the same. */
const TIMEOUT_MS = 120_000;

/**
 * Requests to a local node. One without an answer is not repeated before two minutes: `anvil_mine` would mine twice. With
 * `batch`, calls of one tick share a request.
 */
export const toNode = (url: string, { batch = false } = {}): HttpTransport =>
  nodeTransport(url, { timeout: TIMEOUT_MS, batch });
