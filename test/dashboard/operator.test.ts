/**
 * What this proves: the Operator page opens with the admin token alone, keeps it in memory and says why it is refused; its figures
 * are the API's.
 */
import { isDeepStrictEqual } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect } from "vitest";
import { z } from "zod";
import { DEV_ADMIN_TOKEN } from "../../lib/off-local.ts";
import { admin } from "../api/support/api.ts";
import { closePages, type OpenPage, screenshot, testWithBrowser } from "../support/chromium.ts";
import {
  amountsIn,
  expectAccessible,
  expectAccessibleEverywhere,
  figureOf,
  openDashboard,
} from "./support/dashboard.ts";
import {
  afterToken,
  FLIGHTS,
  fillOperator,
  giveToken,
  type Operator,
  openDesk,
  openGate,
  startOperator,
} from "./support/operator.ts";

let setup: Operator;
let filled: Awaited<ReturnType<typeof fillOperator>>;
let apiUrl: string;
beforeAll(async () => {
  setup = await startOperator();
  apiUrl = setup.stack.apiUrl;
});

async function read<T>(path: string, shape: z.ZodType<T>): Promise<T> {
  return shape.parse((await setup.request(`/api/v1/admin/${path}`, { headers: admin })).json);
}

/** The browser itself notes every answer that is an error. */
const refused = /the server responded with a status of 40[13]/;

describe("the token", () => {
  afterEach(closePages);

  testWithBrowser("where the default token is refused, the page says that the admin API is off", async () => {
    setup.rpc.intercept(async ({ method }, forward) =>
      method === "web3_clientVersion" ? { result: "Geth/v1.16.0" } : forward(),
    );
    const opened = await openGate(apiUrl);
    await giveToken(opened);
    await afterToken(opened, opened.page.getByText("The admin API is off"));
    await expectAccessible(opened);
    expect(opened.faults(refused)).toEqual([]);
    setup.rpc.intercept();
    // The API asks its node once.
    await setup.stack.stopService("api");
    await setup.stack.start("api");
    filled = await fillOperator(setup);
  });

  testWithBrowser(
    "a wrong one is refused with the reason, and what no header can carry is not sent",
    async () => {
      const opened = await openGate(apiUrl);
      await giveToken(opened, "wrong token");
      await opened.page.getByText("no space").waitFor();
      await giveToken(opened, "wrong-token");
      await opened.page.getByText("The admin token is wrong.").waitFor();
      expect(opened.requests().filter((url) => url.includes("/admin/"))).toHaveLength(1);
      await giveToken(opened);
      await afterToken(opened, opened.page.getByRole("heading", { name: "Stops" }));
      expect(opened.faults(refused)).toEqual([]);
    },
  );

  testWithBrowser("it is in no storage, cookie or address, and is gone with the page", async () => {
    const opened = await openDesk(apiUrl);
    const { page, requests } = opened;
    const kept = await page.evaluate(
      "JSON.stringify([localStorage, sessionStorage, document.cookie, history.state])",
    );
    expect(kept).toBe('[{},{},"",null]');
    expect([page.url(), ...requests()].join("\n")).not.toContain(DEV_ADMIN_TOKEN);
    await page.getByRole("link", { name: "Status" }).click();
    await page.getByRole("heading", { level: 1, name: "Status" }).waitFor();
    await page.getByRole("link", { name: "Operator" }).click();
    await page.getByRole("heading", { name: "Stops" }).waitFor();
    await page.getByRole("button", { name: "Forget the admin token" }).click();
    const field = page.getByRole("textbox", { name: "Admin token" });
    expect(await field.inputValue()).toBe("");
    await field.fill(DEV_ADMIN_TOKEN);
    await page.getByRole("button", { name: "Open" }).click();
    await afterToken(opened, page.getByRole("heading", { name: "Stops" }));
    await page.reload();
    expect(await field.inputValue()).toBe("");
  });
});

const texts = z.object({
  ...{ wallets: z.array(z.object({ nextNonce: z.string().nullable(), inFlight: z.number() })) },
  ...{ waitingTotal: z.number(), nextCursor: z.string().nullable() },
  inFlight: z.array(
    z.object({
      ...{ nonce: z.string(), attempts: z.number() },
      ...{ maxFeePerGas: z.string().nullable(), maxPriorityFeePerGas: z.string().nullable() },
    }),
  ),
  nonceGaps: z.array(z.object({ nonce: z.string() })),
  gas: z.array(
    z.object({ spent: z.string(), budget: z.string().nullable(), budgetPerClient: z.string().nullable() }),
  ),
  spendingByWallet: z.array(z.object({ transactions: z.number(), gas: z.string(), sent: z.string() })),
  spendingByKey: z.array(
    z.object({ purchases: z.number(), reverted: z.number(), gas: z.string(), premiums: z.string() }),
  ),
  keeper: z.object({ failedTasks: z.array(z.object({ policyId: z.string(), failures: z.number() })) }),
});
type Texts = z.output<typeof texts>;

const section = (caption: string) => `section[aria-label='${caption}']`;
const valuesOf = (rows: readonly object[]): string[] =>
  rows.flatMap((row) => Object.values(row).flatMap((value) => (value === null ? [] : [String(value)])));
/** The first column of a table. */
const firstCells = ({ page }: OpenPage, caption: string) =>
  page.getByRole("table", { name: caption }).locator("tbody td:first-child").allTextContents();

describe("the figures", () => {
  let opened: OpenPage;
  afterAll(closePages);

  testWithBrowser("are the ledger's, with every digit", async () => {
    opened = await openDesk(apiUrl);
    const ledger = await read("ledger", texts);
    const tables: [caption: string, rows: readonly object[]][] = [
      ["Wallets that send", ledger.wallets],
      ["Transactions in flight", ledger.inFlight],
      ["Nonces that the ledger lacks", ledger.nonceGaps],
      ["Gas and budgets", ledger.gas],
      ["Spent by wallet", ledger.spendingByWallet],
      ["Spent by key", ledger.spendingByKey],
      ["Work of the keeper that has failed", ledger.keeper.failedTasks],
    ];
    for (const [caption, rows] of tables) {
      expect(rows.length, caption).toBeGreaterThan(0);
      expect([caption, await amountsIn(opened, section(caption))]).toEqual([caption, valuesOf(rows)]);
    }
    const sum = ({ wallets }: Texts) => wallets.reduce((all, { inFlight }) => all + inFlight, 0);
    expect(await figureOf(opened, "In flight").textContent()).toBe(String(sum(ledger)));
    expect(await figureOf(opened, "Missing nonces").textContent()).toBe("1");
    expect(await figureOf(opened, "Undeliverable").textContent()).toBe("60");
    const sentence = await opened.page.locator(".sentence").textContent();
    expect(sentence).toMatch(
      new RegExp(`^Nothing is stopped; ${FLIGHTS} transactions are in flight, the oldest for 1 h`),
    );
    expect(sentence).toContain(
      "1 wallet cannot send, 1 nonce is missing, 1 task of the keeper has failed, 60 webhooks",
    );
  });

  testWithBrowser(
    "say what is wrong in words: wallets, failures, absences, paused clients, webhooks",
    async () => {
      const { page } = opened;
      for (const [caption, text] of [
        ["Wallets that send", "Cannot send: it has no ether"],
        ["Failed transactions of the service", "too late onchain_revert"],
        ["Work of the keeper that has failed", "the vault is empty"],
        ["Webhooks that are behind", "hooks.example:8443"],
      ] as const)
        expect(await page.getByRole("table", { name: caption }).textContent(), caption).toContain(text);
      expect(await page.getByRole("table", { name: "Times without a keeper" }).getByRole("row").count()).toBe(
        2,
      );
      const paused = page.getByRole("table", { name: "Clients that may not buy" });
      expect(await paused.getByTitle(filled.client).count()).toBe(1);
      expect(await page.content()).not.toContain("secret-path");
    },
  );

  testWithBrowser("come in pages, and a choice leaves what is not stuck out", async () => {
    const { page } = opened;
    const flights = page.getByRole("table", { name: "Transactions in flight" }).locator("tbody tr");
    expect(await flights.count()).toBe(50);
    const steps = page.getByRole("navigation", { name: "Pages of transactions" });
    await steps.getByRole("link", { name: "Next transactions" }).press("Enter");
    await expect.poll(() => flights.count()).toBe(FLIGHTS - 50);
    expect(new URL(page.url()).searchParams.has("flights-after")).toBe(true);
    expect(await steps.getByRole("link").allTextContents()).toEqual(["First transactions"]);
    await steps.getByRole("link").press("Enter");
    await expect.poll(() => flights.count()).toBe(50);
    await steps.getByRole("link", { name: "Next transactions" }).click();
    await expect.poll(() => flights.count()).toBe(FLIGHTS - 50);
    await page.getByRole("link", { name: "Older than a minute" }).click();
    expect(new URL(page.url()).search).toBe("?age=stuck");
    await expect
      .poll(() => opened.requests().some((url) => /admin\/ledger\?.*minAge=60/.test(url)))
      .toBe(true);
    // Young ones turn a minute old meanwhile.
    await expect
      .poll(async () => {
        const { inFlight } = await read("ledger?minAge=60", texts);
        const shown = await amountsIn(opened, section("Transactions in flight"));
        return isDeepStrictEqual(shown, valuesOf(inFlight));
      })
      .toBe(true);
    const hooks = page.getByRole("navigation", { name: "Pages of webhooks" });
    await hooks.getByRole("link", { name: "Next webhooks" }).click();
    await expect.poll(async () => (await firstCells(opened, "Webhooks that are behind")).length).toBe(10);
  });

  testWithBrowser("keys: in pages, or those of one wallet, which is in the address", async () => {
    const { page } = opened;
    const keys = z.object({ keys: z.array(z.object({ keyId: z.number() })) });
    const ids = async (query: string) =>
      (await read(`keys?${query}`, keys)).keys.map(({ keyId }) => String(keyId));
    const all = await ids("limit=100");
    expect(await firstCells(opened, "API keys")).toEqual(all.slice(0, 25));
    await page
      .getByRole("navigation", { name: "Pages of keys" })
      .getByRole("link", { name: "Next keys" })
      .click();
    await expect.poll(() => firstCells(opened, "API keys")).toEqual(all.slice(25));
    const field = page.getByRole("textbox", { name: "Keys of the wallet" });
    await field.fill("0x12");
    await page.keyboard.press("Enter");
    await page.getByText("An address is 0x and 40 hex digits.").waitFor();
    await field.fill(filled.buyer);
    await page.keyboard.press("Enter");
    await expect.poll(() => firstCells(opened, "API keys")).toEqual([String(filled.keyId)]);
    expect(new URL(page.url()).searchParams.get("wallet")).toBe(filled.buyer);
    expect(new URL(page.url()).searchParams.has("keys-after")).toBe(false);
    await page.getByRole("link", { name: "All keys" }).click();
    await expect.poll(() => firstCells(opened, "API keys")).toEqual(all.slice(0, 25));
    expect(opened.faults()).toEqual([]);
  });

  testWithBrowser("are accessible, narrow and wide, dark and light", async () => {
    await expectAccessibleEverywhere(opened, (variant) => screenshot(opened, `operator-open-${variant}`));
  });
});

testWithBrowser("the status page has the wallets of the writers that run, as /health", async () => {
  const opened = await openDashboard(apiUrl, "/status");
  const wallets = z.object({ relayers: z.array(z.object({ balanceWei: z.string().nullable() })) });
  const answer = async () => wallets.parse((await setup.request("/health")).json).relayers;
  // On a busy machine a writer may lose a wallet for a moment.
  await expect.poll(answer).not.toEqual([]);
  const counted = async () =>
    (await figureOf(opened, "Relayers").textContent()) === String((await answer()).length);
  await expect.poll(counted).toBe(true);
  // A balance changes with each transaction, and the page follows.
  const shown = () => amountsIn(opened, section("Wallets of the service"));
  const equal = async () =>
    isDeepStrictEqual(
      await shown(),
      (await answer()).map(({ balanceWei }) => balanceWei),
    );
  await expect.poll(equal).toBe(true);
  expect(opened.faults()).toEqual([]);
});
