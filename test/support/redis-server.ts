/** Starts a Redis server, where the machine has one installed. */
import { existsSync } from "node:fs";
import { createConnection } from "node:net";
import { delimiter, join } from "node:path";
import { freePort } from "../../scripts/local/ports.ts";
import { exitMessage, startProcess } from "../../scripts/local/processes.ts";
import { waitFor } from "../../scripts/local/wait.ts";

export type Redis = {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly stop: () => Promise<void>;
};

const startTimeoutMs = 15_000;

/** The path of `redis-server`; undefined when it is not installed. */
export function redisBinary(): string | undefined {
  return (process.env.PATH ?? "")
    .split(delimiter)
    .map((folder) => join(folder, "redis-server"))
    .find((file) => existsSync(file));
}

function ping(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = createConnection({ host: "127.0.0.1", port, timeout: 1_000 }, () =>
      socket.write("PING\r\n"),
    );
    socket.once("data", (answer) => {
      socket.destroy();
      resolve(answer.toString().startsWith("+PONG"));
    });
    socket.once("timeout", () => socket.destroy(new Error("no answer")));
    socket.once("error", reject);
  });
}

/**
 * Starts a Redis without persistence that never evicts a key, because BullMQ would lose jobs.
 * @returns undefined when `redis-server` is not installed.
 */
export async function startRedis({
  logFile,
  port,
}: {
  logFile: string;
  port?: number;
}): Promise<Redis | undefined> {
  const command = redisBinary();
  if (!command) return undefined;
  const chosen = port ?? (await freePort());
  const settings = { bind: "127.0.0.1", save: "", appendonly: "no", "maxmemory-policy": "noeviction" };
  const args = Object.entries({ port: String(chosen), ...settings }).flatMap(([k, v]) => [`--${k}`, v]);
  const child = await startProcess({ name: `redis-server (port ${chosen})`, command, args, logFile });
  try {
    await waitFor({
      what: `${child.name} to answer`,
      probe: async () => ((await ping(chosen)) ? true : undefined),
      giveUpReason: () => exitMessage(child),
      timeoutMs: startTimeoutMs,
      intervalMs: 20,
    });
  } catch (error) {
    await child.kill9();
    throw error;
  }
  return {
    url: `redis://127.0.0.1:${chosen}`,
    port: chosen,
    pid: child.pid,
    async stop() {
      await child.stop({ graceMs: 3_000 });
    },
  };
}
