/** Deletes the faucet's client addresses once no limit needs them. */

import type { Connection } from "../../lib/db/connect.ts";
import { errorText, type Logger } from "../../lib/log.ts";
import { shareRead } from "../../lib/shared-read.ts";
import { forgetOldClaimants } from "./counts.ts";

/** How often each process deletes them, in ms. */
const INTERVAL_MS = 600_000;

/** To be called with every request: deletes them every ten minutes, in the background; never throws. */
export function createForgetClients({
  connection,
  log,
}: {
  connection: Connection;
  log: Logger;
}): () => void {
  const forget = shareRead(INTERVAL_MS, () => forgetOldClaimants(connection.sql));
  return () => {
    forget().catch((error) =>
      log.warn({ err: errorText(error) }, "could not delete old client addresses of the faucet"),
    );
  };
}
