/** Starts `npm run dev` with ports and a folder of its own. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { separateEnvironment } from "../scripts/dev/environment.ts";
import { type Child, exitMessage, startProcess } from "../scripts/local/processes.ts";
import { waitFor } from "../scripts/local/wait.ts";

export type DevStack = {
  readonly child: Child;
  readonly folder: string;
  readonly apiUrl: string;
  readonly rpcUrl: string;
};

/** @returns the stack once it is ready, and the seconds that this took */
export async function startDevStack(): Promise<{ stack: DevStack; readySeconds: number }> {
  const folder = mkdtempSync(join(tmpdir(), "bench-stack-"));
  const own = await separateEnvironment(folder);
  const started = performance.now();
  const child = await startProcess({
    name: "dev stack",
    command: process.execPath,
    args: ["scripts/run.mjs", "scripts/dev.ts"],
    logFile: join(folder, "dev.log"),
    env: { ...process.env, ...own, PUBLIC_RATE_LIMIT: "1000000000" },
  });
  await waitFor({
    what: "the dev stack to be ready",
    probe: () => readFileSync(child.logFile, "utf8").includes("Ready in ") || undefined,
    giveUpReason: () => exitMessage(child),
    timeoutMs: 120_000,
    intervalMs: 20,
  });
  const readySeconds = (performance.now() - started) / 1000;
  const [apiUrl, rpcUrl] = [`http://127.0.0.1:${own.PORT}`, `http://127.0.0.1:${own.ANVIL_PORT}`];
  return { stack: { child, folder, apiUrl, rpcUrl }, readySeconds };
}

export async function stopDevStack({ child, folder }: DevStack): Promise<void> {
  await child.stop({ graceMs: 30_000 });
  rmSync(folder, { recursive: true, force: true });
}
