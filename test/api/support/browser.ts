/** Opens a page in a real Chromium and returns its DOM, console output and requests. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { inject, test } from "vitest";
import { z } from "zod";
import { startProcess } from "../../../scripts/local/processes.ts";
import { recordPid } from "../../support/run-folder.ts";

const names = ["chromium", "chromium-browser", "google-chrome"];

function findBrowser(): string | undefined {
  for (const name of names) {
    try {
      return execFileSync("which", [name], { encoding: "utf8" }).trim();
    } catch {
      // not installed: try the next name
    }
  }
  return undefined;
}

const browser = findBrowser();

/** A test that needs Chromium: without it the test is skipped, or fails if `CI` is set. */
export function testWithBrowser(name: string, run: () => Promise<void>): void {
  if (browser) test(name, run);
  else if (process.env.CI) {
    test(name, () => {
      throw new Error("chromium is not installed, and with CI set no test may be skipped");
    });
  } else {
    console.warn(`Skipped, chromium is not installed: ${name}`);
    test.skip(name, run);
  }
}

/** Switches off the browser's own network requests where possible, and makes every host but 127.0.0.1 unreachable. */
const flags = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--enable-logging=stderr",
  "--v=0",
  "--virtual-time-budget=20000",
  "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
];

const netLog = z.object({
  events: z.array(
    z.object({ params: z.object({ url: z.string(), initiator: z.string() }).partial().optional() }),
  ),
});

export type Visit = {
  /** The page's DOM after it has loaded. */
  readonly dom: string;
  /** The console output. */
  readonly console: string;
  /** Every URL that the page requested, without the browser's own requests. */
  readonly requests: readonly string[];
};

/** Visits `url` with an empty profile and waits until the page has loaded. */
export async function visit(url: string): Promise<Visit> {
  if (!browser) throw new Error("chromium is not installed");
  const folder = mkdtempSync(join(inject("runFolder"), "browser-"));
  const log = join(folder, "net.json");
  const output = join(folder, "output.log");
  const args = [...flags, `--user-data-dir=${folder}/profile`, `--log-net-log=${log}`, "--dump-dom", url];
  const child = await startProcess({ name: "chromium", command: browser, args, logFile: output });
  recordPid(inject("runFolder"), child.pid);
  const { code } = await child.exited;
  if (code !== 0)
    throw new Error(`chromium exited with ${code}: ${readFileSync(output, "utf8").slice(-2000)}`);
  const text = readFileSync(output, "utf8");
  const { events } = netLog.parse(JSON.parse(readFileSync(log, "utf8")));
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  const { origin } = new URL(url);
  const requests = events.flatMap(({ params }) =>
    params?.url && params.initiator === origin ? [params.url] : [],
  );
  return {
    dom: text,
    console: text
      .split("\n")
      .filter((line) => line.includes("CONSOLE"))
      .join("\n"),
    requests: [...new Set(requests)],
  };
}
