/** Debian's Chromium for tests: one browser per test file, an empty profile per page, and a list of everything that is wrong with it. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { test } from "vitest";
import { findChromium } from "../../scripts/local/browser.ts";
import { atEnd } from "./cleanup.ts";

const executablePath = findChromium();

/** A test that needs Chromium: without it the test is skipped, or fails if `CI` is set. */
export function testWithBrowser(name: string, run: () => Promise<void>): void {
  if (executablePath) test(name, run);
  else if (process.env.CI) {
    test(name, () => {
      throw new Error("chromium is not installed, and with CI set no test may be skipped");
    });
  } else {
    console.warn(`Skipped, chromium is not installed: ${name}`);
    test.skip(name, run);
  }
}

/** Every host but this machine is unreachable. */
const args = ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"];

let running: Promise<Browser> | undefined;

/** The browser of this test file; it is closed when the file ends. */
function browser(): Promise<Browser> {
  running ??= chromium.launch({ executablePath, args }).then((started) => {
    atEnd(async () => {
      running = undefined;
      await started.close();
    });
    return started;
  });
  return running;
}

/** How a page is looked at. 1280 × 800, light, with motion, where nothing else is given. */
export type Look = {
  readonly width?: number;
  readonly height?: number;
  readonly colorScheme?: "light" | "dark";
  readonly reducedMotion?: "reduce" | "no-preference";
};

export type OpenPage = {
  readonly page: Page;
  /**
   * Console messages, uncaught errors, and requests to other origins, one line each; those that match `expected` are left
   * out. So is a 503, which a busy machine may cause: the page asks again.
   */
  readonly faults: (expected?: RegExp) => string[];
  /** Every address that the page has requested, once. */
  readonly requests: () => string[];
};

/** Opens an empty page that may ask `origin` alone. `look` is the window, and what the system prefers. */
export async function openPage(origin: string, look: Look = {}): Promise<OpenPage> {
  const { width = 1280, height = 800, colorScheme = "light", reducedMotion = "no-preference" } = look;
  const context = await (await browser()).newContext({
    viewport: { width, height },
    colorScheme,
    reducedMotion,
    timezoneId: "Europe/Madrid",
  });
  const page = await context.newPage();
  // An answer may come late on a busy machine.
  page.setDefaultTimeout(300_000);
  const faults: string[] = [];
  const requests = new Set<string>();
  page.on("console", (message) => faults.push(`console ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("request", (request) => {
    const url = request.url();
    requests.add(url);
    if (!url.startsWith(`${origin}/`) && !url.startsWith("blob:")) faults.push(`request to ${url}`);
  });
  return {
    page,
    faults: (expected) =>
      faults.filter((fault) => !fault.includes("status of 503") && !expected?.test(fault)),
    requests: () => [...requests],
  };
}

/** Closes every page of this test file: an open one goes on to ask its API. */
export async function closePages(): Promise<void> {
  for (const context of (await running)?.contexts() ?? []) await context.close();
}

/** Writes pictures of the window and of the whole page into the folder `SCREENSHOTS`, for people to look at; none without it. */
export async function screenshot({ page }: OpenPage, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}-window.png`) });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}
