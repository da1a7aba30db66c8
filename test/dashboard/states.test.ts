/**
 * What this proves: the dashboard says what is wrong while the index does not exist, reads history or cannot be read, and while
 * the API is away, and goes on by itself; a reorganisation takes its newest row back; a part of its script that could not be
 * loaded says so and is loaded again.
 */

import { afterAll, afterEach, beforeAll, describe, expect } from "vitest";
import { z } from "zod";
import { counted } from "../../dashboard/format/amount.ts";
import { openProtocol, type Protocol, purchase } from "../../scripts/local/protocol/actions/index.ts";
import { termsOf } from "../../scripts/local/protocol/terms.ts";
import { fundSeedAccounts, seedAccounts, usdc } from "../../scripts/local/seed/accounts.ts";
import { answersCaughtUp } from "../api/support/caught-up.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { closePages, type OpenPage, openPage, testWithBrowser } from "../support/chromium.ts";
import { freshDatabase } from "../support/database.ts";
import { isIndexScan } from "../support/launcher-scan.ts";
import { type CheckedRequest, checkedRequests } from "../support/openapi.ts";
import { askRpc, type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import { expectAccessible, figureOf, openDashboard } from "./support/dashboard.ts";

let chain: TestChain;
let protocol: Protocol;
let stack: Stack;
let request: CheckedRequest;
/** Between the indexer and the chain, and between the api and the database. */
let indexerNode: RpcProxy;
let apiDatabase: TcpProxy;

const product = termsOf("FLASHBTC24-001");
const buy = (coverage: number) => purchase(protocol, seedAccounts.alice, product, usdc(coverage));

beforeAll(async () => {
  chain = await startChain();
  protocol = openProtocol(chain.deployment, chain.url);
  await fundSeedAccounts(protocol);
  await buy(100);
  const databaseUrl = await freshDatabase();
  indexerNode = await startRpcProxy(chain.url);
  apiDatabase = await startTcpProxy(databaseUrl);
  stack = await startStack({
    chain,
    databaseUrl,
    services: ["api"],
    env: { api: { DATABASE_URL: apiDatabase.url }, indexer: { RPC_URL: indexerNode.url } },
  });
  request = await checkedRequests(stack.apiUrl);
});

const indexCaughtUp = () => answersCaughtUp({ chain, stack, request });
const cover = z.object({ active: z.object({ policies: z.number() }) });
const protocolStats = z.object({ policies_total: z.number() });

/** The browser's own line for each answer that is an error. */
const refused = /Failed to load resource/;
const loadAgain = "Try again";

describe("the index", () => {
  let opened: OpenPage;
  afterAll(closePages);
  const said = (words: string | RegExp) => opened.page.getByText(words).first().waitFor();

  testWithBrowser("without an index each part says that none was started", async () => {
    opened = await openDashboard(stack.apiUrl, "/");
    await said("The index is away since");
    await said("No indexer has been started yet.");
    await expectAccessible(opened);
  });

  testWithBrowser("while the index reads history the banner says how far it is", async () => {
    let release: () => void = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    indexerNode.intercept(async (call, forward) => {
      if (isIndexScan(call)) await released;
      return forward();
    });
    await stack.start("indexer", { wait: false });
    await said(/The index reads the chain's history: block \d+ of [\d,]+\./);
    await said("The index is still reading the chain's history; figures appear by themselves.");
    await expectAccessible(opened);
    release();
    indexerNode.intercept();
    await opened.page.locator(".block-dot.synced").waitFor();
    await said(/policy covers 100 USDC|No policy is active/);
    await expect.poll(() => opened.page.locator(".waiting, .banner").count()).toBe(0);
    expect(opened.faults(refused)).toEqual([]);
  });

  testWithBrowser("while the index cannot be read the figures stay, and go on when it can", async () => {
    await indexCaughtUp();
    await closePages();
    opened = await openDashboard(stack.apiUrl, "/");
    const sentence = await opened.page.locator(".sentence").textContent();
    await apiDatabase.cut();
    await said("The index is away since");
    expect(await opened.page.locator(".sentence").textContent()).toContain(sentence);
    await apiDatabase.mend();
    await opened.page.locator(".block-dot.synced").waitFor();
    await expect.poll(() => opened.page.locator(".banner, .stale").count()).toBe(0);
    expect(opened.faults(refused)).toEqual([]);
  });
});

testWithBrowser("a reorganisation takes the newest row back, and its amount out of the figures", async () => {
  await indexCaughtUp();
  const opened = await openDashboard(stack.apiUrl, "/");
  const { page } = opened;
  const row = page.locator("section[aria-label='The newest events'] tr", { hasText: "7,777.00 USDC" });
  const policies = async () =>
    protocolStats.parse((await request("/api/v1/stats/protocol")).json).policies_total;
  const before = await policies();
  const events = page.locator("section[aria-label='The newest events'] tbody tr");
  const rowsBefore = await events.count();
  await buy(7777);
  await row.waitFor();
  expect(await events.count()).toBe(rowsBefore + 1);
  expect(await askRpc(chain.url, "anvil_reorg", [1, []])).toEqual({ result: null });
  await chain.client.mine({ blocks: 1 });
  await indexCaughtUp();
  expect(await policies()).toBe(before);
  await expect.poll(() => row.count()).toBe(0);
  await expect.poll(() => events.count()).toBe(rowsBefore);
  const { active } = cover.parse((await request("/api/v1/stats/cover")).json);
  const words =
    active.policies === 0
      ? "No policy is active"
      : counted(active.policies, "policy covers", "policies cover");
  await expect.poll(() => page.locator(".sentence").textContent()).toContain(words);
  expect(opened.faults()).toEqual([]);
  await closePages();
});

describe("the API and its files", () => {
  afterEach(closePages);

  /** The files that a page needs beside those of the overview. */
  async function filesOf(path: string): Promise<string[]> {
    const read = async (of: string) => {
      const html = await (await fetch(`${stack.apiUrl}${of}`, { headers: { accept: "text/html" } })).text();
      return [...html.matchAll(/"(\/assets\/[^"]+\.js)"/g)].map(([, file = ""]) => file);
    };
    const common = await read("/");
    return (await read(path)).filter((file) => !common.includes(file));
  }

  testWithBrowser(
    "while the API is away figures stay, and a page that is opened then appears by itself once it is back",
    async () => {
      await indexCaughtUp();
      const opened = await openDashboard(stack.apiUrl, "/");
      const { page } = opened;
      const cover = await figureOf(opened, "Active cover").textContent();
      await stack.stopService("api");
      await page.getByText("The API does not answer since").waitFor();
      expect(await figureOf(opened, "Active cover").textContent()).toBe(cover);
      await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Claims" }).click();
      await page.getByText("This page could not be loaded").waitFor();
      await expectAccessible(opened);
      await buy(300);
      await stack.start("api");
      await page.getByRole("heading", { name: "Due now" }).waitFor();
      await page.locator(".block-dot.synced").waitFor();
      await expect.poll(() => page.getByText("The API does not answer").count()).toBe(0);
      await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Overview" }).click();
      await page.locator("section[aria-label='The newest events'] tr", { hasText: "300.00 USDC" }).waitFor();
      expect(opened.faults(/Failed to load resource|ERR_CONNECTION|ERR_EMPTY/)).toEqual([]);
    },
  );

  testWithBrowser("a page whose script could not be loaded says so, and is loaded by a click", async () => {
    const opened = await openDashboard(stack.apiUrl, "/");
    const { page } = opened;
    const needed = await filesOf("/bonds");
    expect(needed).not.toEqual([]);
    for (const file of needed) await page.route(`**${file}`, (route) => route.abort());
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Bonds" }).click();
    await page.getByText("This page could not be loaded").waitFor();
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Bonds");
    await expectAccessible(opened);
    await page.getByRole("link", { name: "Overview" }).click();
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    // A second visit asks for the file by itself: only once that failed too does the click load it.
    const failedAgain = page.waitForEvent("requestfailed", (request) =>
      needed.includes(new URL(request.url()).pathname),
    );
    await page.getByRole("link", { name: "Bonds" }).click();
    await failedAgain;
    await page.unrouteAll();
    await page.getByRole("button", { name: loadAgain }).click();
    await page.getByRole("heading", { name: "Maturity ladder" }).waitFor();
    expect(opened.faults(refused)).toEqual([]);
  });

  testWithBrowser(
    "a picture whose script could not be loaded says so beside its table, and is drawn by a click",
    async () => {
      const opened = await openPage(stack.apiUrl);
      const { page } = opened;
      await page.route(/\/assets\/draw-[^/]+\.js$/, (route) => route.abort());
      await page.goto(`${stack.apiUrl}/`);
      const plot = page.locator("figure.plot", { has: page.getByRole("heading", { name: "Premiums" }) });
      await plot.getByText("The picture could not be loaded").waitFor();
      await plot.getByText("Table", { exact: true }).click();
      await plot.getByRole("table").waitFor();
      await expectAccessible(opened);
      await page.unrouteAll();
      await plot.getByRole("button", { name: loadAgain }).click();
      await plot.locator("canvas").waitFor();
      // The page's other pictures are drawn with it.
      await expect.poll(() => page.getByText("The picture could not be loaded").count()).toBe(0);
      expect(opened.faults(refused)).toEqual([]);
    },
  );

  testWithBrowser("where the first script does not come the page says that it has not started", async () => {
    const opened = await openPage(stack.apiUrl);
    const { page } = opened;
    await page.route(/\/assets\/main-[^/]+\.js$/, (route) => route.abort());
    await page.goto(`${stack.apiUrl}/claims`);
    await page.getByText("This page has not started yet.").waitFor();
    await page.unrouteAll();
    await page.getByRole("link", { name: "Load it again" }).click();
    await page.getByRole("heading", { level: 1, name: "Claims" }).waitFor();
    expect(opened.faults(refused)).toEqual([]);
  });
});
