/** Builds the index anew beside the present one, which goes on until readers see the new one. */
import { fork } from "node:child_process";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import type { Logger } from "pino";

/** What the process of the next build says once readers see its rows. */
const SHOWN = "shown";
/** After this time a next build that has ended too early is begun again, in ms. */
const AGAIN_MS = 30_000;

/** A port that nobody listens on, for Ponder's server, which nobody calls: readers use the database. */
const unusedPort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address ? address.port : 0;
      server.close(() => resolve(port));
    });
  });

/** Starts the next build: the bundle that has this text, in a process that ends with this one. @param onShown called once readers see its rows */
export async function startNextBuild(log: Logger, onShown: () => void): Promise<void> {
  const env = { ...process.env, PONDER_PORT: String(await unusedPort()), PORT: undefined };
  const child = fork(fileURLToPath(import.meta.url), [], {
    env,
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  log.info({ pid: child.pid }, "the next build begins beside this one");
  child.on("message", (message) => {
    if (message === SHOWN) onShown();
  });
  child.on("exit", (code, signal) => {
    log.warn({ code, signal }, "the next build has ended before readers saw it, and begins again soon");
    setTimeout(() => void startNextBuild(log, onShown), AGAIN_MS).unref();
  });
}

/** In the process of a next build: tells the present one that readers see the rows. In any other process: nothing. */
export function reportShown(): void {
  if (process.connected) process.send?.(SHOWN);
}

/** In the process of a next build: ends it, as by a signal, with the present one. */
export function endWithPresentBuild(): void {
  if (process.connected) process.on("disconnect", () => process.kill(process.pid, "SIGINT"));
}
