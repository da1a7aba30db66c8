/** The addresses of the faucet's clients are kept no longer than they limit something. */

import { errorText } from "../../lib/log.ts";
import { shareRead } from "../../lib/shared-read.ts";
import type { Dependencies } from "../dependencies.ts";
import { forgetOldClaimants } from "./counts.ts";

/** How often a process forgets, in ms. */
const EVERY_MS = 600_000;

/** To be called with every request: it does its work now and then, beside the request, and never rejects. */
export function createForgetting({ connection, log }: Pick<Dependencies, "connection" | "log">): () => void {
  const forget = shareRead(EVERY_MS, () => forgetOldClaimants(connection.db));
  return () => {
    forget().catch((error) => log.warn({ err: errorText(error) }, "old claimants were not forgotten"));
  };
}
