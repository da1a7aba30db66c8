/** Opens a page in a real Chromium and tells what it showed, said and asked for. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { inject, test } from "vitest";
import { z } from "zod";
import { startProcess } from "../../../scripts/local/processes.ts";
import { notePid } from "../../support/run-folder.ts";

const names = ["chromium", "chromium-browser", "google-chrome"];

function findBrowser(): string | undefined {
  for (const name of names) {
    try {
      return execFileSync("which", [name], { encoding: "utf8" }).trim();
    } catch {
      // the next one
    }
  }
  return undefined;
}

const browser = findBrowser();

/** A test that needs Chromium: without one it stands in the report as skipped; with `CI` set it fails instead. */
export function testWithBrowser(name: string, run: () => Promise<void>): void {
  if (browser) test(name, run);
  else if (process.env.CI) {
    test(name, () => {
      throw new Error("this machine has no chromium, and with CI set nothing may be skipped");
    });
  } else {
    console.warn(`Skipped for want of chromium: ${name}`);
    test.skip(name, run);
  }
}

/** The browser's own errands are switched off as far as they can be; every other host is beyond its reach. */
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
  /** The page's elements as they stood at the end. */
  readonly dom: string;
  /** What the console said. */
  readonly console: string;
  /** Every address that the page asked for; those that the browser asked for on its own are left out. */
  readonly requests: readonly string[];
};

/** Visits `url` with an empty profile and waits until the page has come to rest. */
export async function visit(url: string): Promise<Visit> {
  if (!browser) throw new Error("this machine has no chromium");
  const folder = mkdtempSync(join(inject("runFolder"), "browser-"));
  const log = join(folder, "net.json");
  const output = join(folder, "output.log");
  const args = [...flags, `--user-data-dir=${folder}/profile`, `--log-net-log=${log}`, "--dump-dom", url];
  const child = await startProcess({ name: "chromium", command: browser, args, logFile: output });
  notePid(inject("runFolder"), child.pid);
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
