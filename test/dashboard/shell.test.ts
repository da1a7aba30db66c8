/**
 * What this proves, on one history: the dashboard is served from our own files alone; its pages have the API's figures; each is
 * accessible at 320 px and at 1280 px, dark and light; it says what is wrong while the index is away, keeps what it showed, and
 * goes on by itself.
 */
import { gunzipSync } from "node:zlib";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { pageList } from "../../dashboard/page-list.ts";
import { seedAccounts } from "../../scripts/local/seed/accounts.ts";
import type { TestApi } from "../api/support/api.ts";
import { closePages, screenshot, testWithBrowser } from "../support/chromium.ts";
import { testBonds } from "./history/bonds.ts";
import { testCoverAndClaims } from "./history/cover-and-claims.ts";
import { testMarket } from "./history/market.ts";
import { testOperatorStops } from "./history/operator-stops.ts";
import { testPages } from "./history/pages.ts";
import { expectAccessibleEverywhere, expectToFit, figureOf, openDashboard } from "./support/dashboard.ts";
import { startHistory } from "./support/history.ts";

let api: TestApi;
beforeAll(async () => {
  api = await startHistory();
});

testBonds(() => api);
testMarket(() => api);
testCoverAndClaims(() => api);
testPages(() => api);
testOperatorStops(() => api);

const htmlAccept = "text/html,application/xhtml+xml,*/*;q=0.8";
const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${api.stack.apiUrl}${path}`, { headers: { accept: htmlAccept, ...headers } });

describe("the files", () => {
  afterEach(closePages);

  test("every page has the strictest content security policy, and a browser that has it gets 304", async () => {
    for (const { path } of pageList) {
      const page = await get(path);
      expect([path, page.status, page.headers.get("content-type")]).toEqual([
        path,
        200,
        "text/html; charset=utf-8",
      ]);
      expect(page.headers.get("content-security-policy")).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      );
      expect(await page.text()).not.toMatch(/<style|style=|<script(?![^>]* src=)|(src|href)="(https?:)?\/\//);
      const again = await get(path, { "if-none-match": page.headers.get("etag") ?? "" });
      expect([path, again.status]).toEqual([path, 304]);
    }
  });

  test("hashed files are kept for a year, compressed as the browser asks, and unknown ones are 404", async () => {
    const html = await (await get("/")).text();
    const files = [...html.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, file = ""]) => file);
    expect(files.length).toBeGreaterThan(2);
    for (const file of new Set(files)) {
      const plain = await get(file, { "accept-encoding": "identity" });
      expect(plain.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      const content = Buffer.from(await plain.arrayBuffer());
      for (const encoding of ["br", "gzip"]) {
        const packed = await get(file, { "accept-encoding": encoding });
        expect(packed.headers.get("content-encoding")).toBe(encoding);
        expect(Buffer.from(await packed.arrayBuffer()).equals(content)).toBe(true); // fetch has unpacked it
      }
      expect(() => gunzipSync(content)).toThrow();
    }
    expect((await get("/assets/nothing.js")).status).toBe(404);
    expect((await get("/assets/..%2Fmanifest.json")).status).toBe(404);
  });

  testWithBrowser("the first page, its plots too, takes at most 60 kB", async () => {
    const { page, requests } = await openDashboard(api.stack.apiUrl, "/");
    await page.locator(".plot canvas").first().waitFor();
    const files = requests().filter((url) => url.includes("/assets/") || url === `${api.stack.apiUrl}/`);
    const sizes = await Promise.all(
      files.map(async (url) => {
        const packed = await get(new URL(url).pathname, { "accept-encoding": "gzip" });
        return Number(packed.headers.get("content-length"));
      }),
    );
    expect(sizes.length).toBeGreaterThan(4);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(60 * 1024);
  });
});

/** Of a wallet there is more to see than the field for its address. */
const wallet = { name: "wallet-of-alice", path: `/wallet/${seedAccounts.alice.address}`, title: "Wallet" };

describe("each page", () => {
  afterEach(closePages);

  for (const { name, path, title } of [...pageList, wallet]) {
    testWithBrowser(
      `${name}: accessible, narrow and wide, dark and light, without a message; on 3840 pixels no wider than on 1280`,
      async () => {
        const opened = await openDashboard(api.stack.apiUrl, path, { width: 320 });
        const { page } = opened;
        expect(await page.title()).toBe(`${title} · Parametric Cover Service`);
        await expectAccessibleEverywhere(opened, (variant) => screenshot(opened, `${name}-${variant}`));
        await page.setViewportSize({ width: 3840, height: 2160 });
        await expectToFit(opened);
        expect((await page.locator("main").boundingBox())?.width).toBeLessThanOrEqual(1200);
        expect(opened.faults()).toEqual([]);
      },
    );
  }

  testWithBrowser("for readers who want no motion nothing moves, a new row neither", async () => {
    const { page } = await openDashboard(api.stack.apiUrl, "/", { reducedMotion: "reduce" });
    const moving = `[...document.querySelectorAll("tr")].map((row) => row.classList.add("new")) &&
      [...document.querySelectorAll("*")].filter((one) => {
        const { animationName, transitionDuration } = getComputedStyle(one);
        return animationName !== "none" || /[1-9]/.test(transitionDuration);
      }).map((one) => one.outerHTML.slice(0, 120))`;
    expect(await page.evaluate(moving)).toEqual([]);
    await page.emulateMedia({ reducedMotion: "no-preference" });
    expect(await page.evaluate(moving)).not.toEqual([]);
  });

  testWithBrowser("a page's address may end with a slash", async () => {
    const { page } = await openDashboard(api.stack.apiUrl, "/cover/");
    await page.getByRole("heading", { level: 1, name: "Cover" }).waitFor();
  });

  testWithBrowser("an unknown address within the dashboard leads back", async () => {
    const { page } = await openDashboard(api.stack.apiUrl, "/");
    await page.evaluate(
      "history.pushState(null, '', '/nowhere'); dispatchEvent(new PopStateEvent('popstate'))",
    );
    await page.getByRole("link", { name: "Go to the overview" }).click();
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  });
});

describe("by keyboard alone", () => {
  afterEach(closePages);

  testWithBrowser("the skip link is first, pages open by Enter, and the heading has the focus", async () => {
    const { page } = await openDashboard(api.stack.apiUrl, "/");
    await page.keyboard.press("Tab");
    expect(await page.locator(":focus").textContent()).toBe("Skip to the content");
    await page.keyboard.press("Enter");
    expect(await page.locator(":focus").getAttribute("id")).toBe("content");
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Status" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Status" }).waitFor();
    await expect.poll(() => page.locator(":focus").textContent()).toBe("Status");
    await page.goBack();
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  });

  testWithBrowser("on a phone the other pages are behind More, and Escape closes it", async () => {
    const { page } = await openDashboard(api.stack.apiUrl, "/", { width: 320, height: 640 });
    const status = page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Status" });
    expect(await status.isVisible()).toBe(false);
    await page.getByRole("button", { name: "More" }).press("Enter");
    expect(await status.isVisible()).toBe(true);
    await page.keyboard.press("Escape");
    expect(await status.isVisible()).toBe(false);
  });
});

testWithBrowser("without an indexer the page says so, keeps its figures, and goes on by itself", async () => {
  const opened = await openDashboard(api.stack.apiUrl, "/");
  const { page, faults } = opened;
  const cover = await figureOf(opened, "Active cover").textContent();
  await api.stack.stopService("indexer");
  await page.getByText("No indexer runs").waitFor();
  expect(await figureOf(opened, "Active cover").textContent()).toBe(cover);
  await api.stack.start("indexer");
  await page.locator(".block-dot.synced").waitFor();
  expect(faults()).toEqual([]);
});
