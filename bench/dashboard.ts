/**
 * The dashboard on the dev stack, in Chromium with an empty cache: the time until its first page can be used, and what a page that
 * stays open costs with a block a second.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Browser, chromium, type Page } from "playwright-core";
import { findChromium } from "../scripts/local/browser.ts";
import { median, report } from "./report.ts";
import { type DevStack, startDevStack, stopDevStack } from "./start-dev-stack.ts";

const LOADS = 9;
const OPEN_MS = 30_000;
/** Until a click on the first page does something, in ms. */
const INTERACTIVE_LIMIT_MS = 1000;

const PER_MINUTE = 60_000 / OPEN_MS;

/** Opens an address in a context of its own, without anything cached. */
async function withPage<Result>(browser: Browser, use: (page: Page) => Promise<Result>): Promise<Result> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  try {
    return await use(await context.newPage());
  } finally {
    await context.close();
  }
}

/** Waits until nothing on the page is loading. */
const loaded = (page: Page): Promise<void> =>
  page.locator("[aria-busy]").first().waitFor({ state: "detached" });

type Load = { readonly interactive: number; readonly complete: number };

/** Milliseconds from the request until the sentence stands, which the page's script writes, and until nothing loads any more. */
const load = (browser: Browser, url: string): Promise<Load> =>
  withPage(browser, async (page) => {
    const begun = performance.now();
    await page.goto(url, { waitUntil: "commit" });
    await page.locator(".head .sentence").waitFor();
    const interactive = performance.now() - begun;
    await loaded(page);
    return { interactive, complete: performance.now() - begun };
  });

/** Requests of a page that stays open, how many of them were answered without a body, and their bytes on the wire. */
const follow = (browser: Browser, url: string) =>
  withPage(browser, async (page) => {
    await page.goto(url);
    await loaded(page);
    const session = await page.context().newCDPSession(page);
    await session.send("Network.enable");
    const seen = { requests: 0, unchanged: 0, bytes: 0 };
    session.on("Network.responseReceived", ({ response }) => {
      seen.requests += 1;
      if (response.status === 304) seen.unchanged += 1;
    });
    session.on("Network.loadingFinished", ({ encodedDataLength }) => {
      seen.bytes += encodedDataLength;
    });
    await sleep(OPEN_MS);
    return seen;
  });

async function measure({ apiUrl }: DevStack, browser: Browser): Promise<void> {
  const loads: Load[] = [];
  for (let count = 0; count < LOADS; count += 1) loads.push(await load(browser, `${apiUrl}/`));
  const open = await follow(browser, `${apiUrl}/`);
  report(`dashboard: ${LOADS} first loads of the overview, then ${OPEN_MS / 1000} s open`, [
    {
      what: "request to interactive, median",
      value: median(loads.map(({ interactive }) => interactive)),
      unit: "ms",
      limit: INTERACTIVE_LIMIT_MS,
    },
    {
      what: "request to the whole page, median",
      value: median(loads.map(({ complete }) => complete)),
      unit: "ms",
    },
    { what: "requests of an open page, a minute", value: open.requests * PER_MINUTE, unit: "" },
    { what: "  answered 304", value: open.unchanged * PER_MINUTE, unit: "" },
    { what: "  on the wire, a minute", value: (open.bytes * PER_MINUTE) / 1000, unit: "kB" },
  ]);
}

export async function benchDashboard(): Promise<void> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error("the benchmark of the dashboard needs Chromium");
  const { stack } = await startDevStack();
  try {
    const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
    try {
      await measure(stack, browser);
    } finally {
      await browser.close();
    }
  } finally {
    await stopDevStack(stack);
  }
}
