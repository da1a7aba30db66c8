/**
 * What this proves: on a fresh chain without a policy each page says in words what is not there yet, is accessible, narrow and
 * wide, dark and light, and the browser has no message. Then a history begins, which the overview follows.
 */
import { afterEach, beforeAll, describe, expect } from "vitest";
import { type PageName, pageList } from "../../dashboard/page-list.ts";
import { seedAccounts } from "../../scripts/local/seed/accounts.ts";
import type { TestApi } from "../api/support/api.ts";
import { closePages, type OpenPage, testWithBrowser } from "../support/chromium.ts";
import { testOverview } from "./history/overview.ts";
import { expectAccessibleEverywhere, openDashboard } from "./support/dashboard.ts";
import { startBeforeHistory } from "./support/history.ts";

let api: TestApi;
beforeAll(async () => {
  api = await startBeforeHistory();
});

/** What a page has to say of the things that do not exist yet. */
const said: Partial<Record<PageName, readonly (string | RegExp)[]>> = {
  overview: [
    "No policy has been bought yet. The first purchase appears here by itself.",
    "No policy was bought in this time.",
    "No policy was triggered in this time, so nothing was paid.",
    "No token was burned in this time.",
    "Nothing has happened yet.",
  ],
  cover: ["No policy waits for a fall.", "No policy is active."],
  claims: [
    "No policy has been paid yet",
    "No policy was paid yet. Choose a policy",
    "No policy was paid yet. The first payment appears here by itself.",
    "No keeper of this service has been at work",
    /No policy is due/,
  ],
  bonds: [
    "No bond exists yet. Each policy that is paid creates some.",
    "No bond is in circulation: none was issued yet, or all of them were redeemed.",
    "by which the vault counts",
    "No redemption waits: what holders redeem is paid at once",
    "Nobody holds bonds now.",
  ],
  market: [
    "No bond has been offered yet. The first listing appears here by itself.",
    "No bond was sold yet. The first sale appears here by itself.",
    "No bond is for sale now.",
    "No bond was listed yet.",
    "No bond was sold in the last 30 months.",
  ],
  token: ["No token was burned yet.", "No burner bought tokens in this time, so there is no price."],
  status: ["No writer is running", "There was never a pause, nor an outage."],
};

/** Words that stand for a value which the page did not expect to be missing. */
const leftover = /\b(NaN|undefined|null|Infinity|Invalid Date|\[object)/;

/** Expects that nothing is left blank: each table without rows and each plot without a picture has its reason. */
async function expectReasons({ page }: OpenPage): Promise<void> {
  expect(await page.locator("main").textContent()).not.toMatch(leftover);
  const rowless = page.locator("figure.table:not(:has(tbody tr))");
  const unpainted = page.locator("figure.plot:not(:has(.canvas))");
  for (const blank of [...(await rowless.all()), ...(await unpainted.all())])
    expect(await blank.locator(".empty").textContent()).toMatch(/^\S+( \S+){2,}\.$/);
  expect(await page.locator(".waiting").allTextContents()).toEqual([]);
}

describe("without a policy", () => {
  afterEach(closePages);

  for (const { name, path, title } of pageList) {
    testWithBrowser(`${title} says what is not there yet`, async () => {
      const opened = await openDashboard(api.stack.apiUrl, path);
      const sentence = await opened.page.locator(".head .sentence").textContent();
      expect(sentence).toMatch(/\w+( \S+){2,}/);
      if (name === "cover") expect(sentence).toContain("No policy is active");
      for (const words of said[name] ?? []) await opened.page.getByText(words).first().waitFor();
      await expectReasons(opened);
      await expectAccessibleEverywhere(opened);
      expect(opened.faults()).toEqual([]);
    });
  }

  testWithBrowser("a wallet without anything is told so, part by part", async () => {
    const opened = await openDashboard(api.stack.apiUrl, `/wallet/${seedAccounts.alice.address}`);
    const { page } = opened;
    for (const words of [
      /bought no policy, holds no bond/,
      "This wallet has bought no policy.",
      "This wallet holds no bond.",
      "This wallet offers no bond for sale.",
    ])
      await page.getByText(words).first().waitFor();
    await expectReasons(opened);
    await expectAccessibleEverywhere(opened);
    expect(opened.faults()).toEqual([]);
  });

  testWithBrowser("an address that names no policy is explained", async () => {
    const opened = await openDashboard(api.stack.apiUrl, "/claims?policy=17");
    await opened.page.getByText("The address names no policy").waitFor();
    expect(opened.faults()).toEqual([]);
  });
});

testOverview(() => api);
