/**
 * What these tests prove: the Operator page's one write stops, after a question that says in plain words what it stops, and never
 * resumes; a lost answer leaves no doubt; without the API the figures stay, and go on by themselves.
 */
import type { Page } from "playwright-core";
import { afterEach, beforeAll, describe, expect } from "vitest";
import { z } from "zod";
import { type Connection, connect } from "../../../lib/db/connect.ts";
import { clearStop, listStops, setStop } from "../../../lib/ledger/stops.ts";
import { admin, issueKey, newWallet, type TestApi } from "../../api/support/api.ts";
import { closePages, screenshot, testWithBrowser } from "../../support/chromium.ts";
import { atEnd } from "../../support/cleanup.ts";
import { expectAccessible, figureOf } from "../support/dashboard.ts";
import { openDesk } from "../support/operator.ts";

let api: TestApi;
let sql: Connection["sql"];

const list = z.object({
  stops: z.array(
    z.object({
      ...{ scope: z.string(), wallet: z.string().nullable(), keyId: z.number().nullable() },
      ...{ reason: z.string(), setBy: z.string(), resume: z.string() },
    }),
  ),
});
const stopsInForce = async () =>
  list.parse((await api.request("/api/v1/admin/stops", { headers: admin })).json).stops;
const open = (path?: string) => openDesk(api.stack.apiUrl, path);

const stopsTable = (page: Page) => page.getByRole("table", { name: "Stops in force" });
const said = (page: Page) => page.locator("section p[role=status]");

/** The tests, on the stack that the file has started. They leave no stop. */
export function testOperatorStops(started: () => TestApi): void {
  describe("the operator's stops", () => {
    beforeAll(() => {
      api = started();
      const connection = connect(api.stack.databaseUrl, { name: "test" });
      atEnd(connection.close);
      sql = connection.sql;
    });
    afterEach(async () => {
      await closePages();
      for (const stop of await listStops(sql)) await clearStop(sql, stop);
    });

    testWithBrowser(
      "by keyboard alone: a question comes first, Escape leaves all as it is, and Enter stops",
      async () => {
        const opened = await open();
        const { page } = opened;
        await page.getByRole("radio", { name: "Everything" }).focus();
        await page.keyboard.press("ArrowDown");
        expect(await page.getByRole("radio", { name: "The keeper" }).isChecked()).toBe(true);
        await page.keyboard.press("Tab");
        await page.keyboard.press("Enter");
        await page.getByText("Say why, for the next operator.").waitFor();
        await page.keyboard.type("a wrong price feed");
        await page.keyboard.press("Tab");
        await page.keyboard.press("Enter");
        const dialog = page.getByRole("dialog", { name: "Stop the keeper?" });
        await dialog.waitFor();
        expect(await dialog.textContent()).toMatch(/pays no due policy.*Purchases go on.*npm run ledger/s);
        expect(await page.locator(":focus").textContent()).toBe("Leave it running");
        for (const width of [320, 1280]) {
          await page.setViewportSize({ width, height: 800 });
          await expectAccessible(opened);
          await screenshot(opened, `operator-question-${width}`);
        }
        await page.keyboard.press("Escape");
        await expect.poll(() => dialog.count()).toBe(0);
        expect(await page.locator(":focus").textContent()).toBe("Stop …");
        expect(await stopsInForce()).toEqual([]);

        await page.keyboard.press("Enter");
        await dialog.waitFor();
        await page.keyboard.press("Tab");
        await page.keyboard.press("Enter");
        await expect.poll(() => said(page).textContent()).toBe("Stopped: the keeper.");
        const resume = "npm run ledger -- resume keeper";
        expect(await stopsInForce()).toEqual([
          { scope: "keeper", wallet: null, keyId: null, reason: "a wrong price feed", setBy: "api", resume },
        ]);
        await stopsTable(page).getByText(resume).waitFor();
        expect(await stopsTable(page).textContent()).toContain("a wrong price feed");
        await page.getByText("1 stop is in force").waitFor();
        // What the server resumes, the page shows by itself.
        await clearStop(sql, { scope: "keeper" });
        await stopsTable(page).getByText(resume).waitFor({ state: "detached" });
        expect(opened.faults()).toEqual([]);
      },
    );

    testWithBrowser("a question that is asked right after the last one was left stays open", async () => {
      const opened = await open();
      const { page } = opened;
      await page.getByRole("radio", { name: "Everything" }).check();
      await page.getByRole("textbox", { name: "Why, for the next operator" }).fill("a wrong price feed");
      await page.getByRole("button", { name: "Stop …", exact: true }).focus();
      const dialog = page.getByRole("dialog", { name: "Stop everything?" });
      for (let n = 0; n < 20; n += 1) {
        await page.keyboard.press("Enter");
        await dialog.waitFor();
        await page.keyboard.press("Escape");
        await dialog.waitFor({ state: "hidden" });
      }
      expect(await stopsInForce()).toEqual([]);
      expect(opened.faults()).toEqual([]);
    });

    testWithBrowser("a key's row fills the form in, and the stop is that key's", async () => {
      const { keyId } = await issueKey(api.request);
      const opened = await open();
      const { page } = opened;
      await page.getByRole("button", { name: `Stop key ${keyId} …` }).press("Enter");
      await page.keyboard.type("leaked");
      await page.keyboard.press("Enter");
      const dialog = page.getByRole("dialog", { name: `Stop key ${keyId}?` });
      await dialog.getByText("This key buys nothing.").waitFor();
      await dialog.getByRole("button", { name: `Stop key ${keyId}` }).click();
      await expect.poll(() => said(page).textContent()).toBe(`Stopped: key ${keyId}.`);
      expect(await stopsInForce()).toMatchObject([{ scope: "key", keyId, reason: "leaked" }]);
      expect(opened.faults()).toEqual([]);
    });

    testWithBrowser(
      "a target that is unknown, or stopped already, is said; the first reason stays",
      async () => {
        await setStop(sql, { scope: "global" }, "an odd price");
        const opened = await open();
        const { page } = opened;
        await page.getByText("Everything is stopped").waitFor();
        const stop = async (scope: string, target: string | undefined) => {
          await page.getByRole("radio", { name: scope }).check();
          if (target !== undefined) await page.locator("#stop-wallet, #stop-key").fill(target);
          await page.getByRole("textbox", { name: "Why, for the next operator" }).fill("another reason");
          await page.getByRole("button", { name: "Stop …", exact: true }).click();
          await page
            .getByRole("dialog")
            .getByRole("button", { name: /^Stop / })
            .click();
        };
        await stop("Everything", undefined);
        await page.getByText("everything was stopped already, because: an odd price").waitFor();
        const wallet = newWallet();
        await stop("One wallet", wallet);
        await page.getByText("it has no API key").waitFor();
        await stop("One key", "999999");
        await page.getByRole("dialog").getByText("There is no key 999999.").waitFor();
        await page.keyboard.press("Escape");
        expect(await stopsInForce()).toMatchObject([
          { scope: "global", reason: "an odd price", setBy: "command line" },
          { scope: "wallet", wallet, reason: "another reason", setBy: "api" },
        ]);
        expect(opened.faults(/status of 404/)).toEqual([]);
      },
    );

    testWithBrowser(
      "the answer to a stop is lost: the page says so, shows the stop, and a second try is safe",
      async () => {
        const opened = await open();
        const { page } = opened;
        // The call reaches the API; its answer does not reach the page.
        await page.route("**/api/v1/admin/stops", async (route) => {
          if (route.request().method() === "POST") await route.fetch();
          await (route.request().method() === "POST" ? route.abort() : route.continue());
        });
        await page.getByRole("radio", { name: "Everything" }).check();
        await page.getByRole("textbox", { name: "Why, for the next operator" }).fill("an odd price");
        await page.keyboard.press("Enter");
        const dialog = page.getByRole("dialog", { name: "Stop everything?" });
        const confirm = dialog.getByRole("button", { name: "Stop everything" });
        await confirm.click();
        await dialog.getByText("No answer came").waitFor();
        await stopsTable(page).getByText("npm run ledger -- resume global").waitFor();
        await page.unroute("**/api/v1/admin/stops");
        await confirm.click();
        await page.getByText("everything was stopped already, because: an odd price").waitFor();
        expect(await stopsInForce()).toHaveLength(1);
        expect(opened.faults(/ERR_FAILED/)).toEqual([]);
      },
    );

    testWithBrowser(
      "while the API is away the figures stay with their time, and go on by themselves",
      async () => {
        const opened = await open();
        const { page } = opened;
        expect(await figureOf(opened, "Stops").textContent()).toBe("0");
        await api.stack.stopService("api");
        await page
          .getByText(/^As of .* The API does not answer\./)
          .first()
          .waitFor();
        expect(await figureOf(opened, "Stops").textContent()).toBe("0");
        await setStop(sql, { scope: "keeper" }, "test");
        await api.stack.start("api");
        await stopsTable(page).getByText("npm run ledger -- resume keeper").waitFor();
        await expect.poll(() => page.getByText("The API does not answer").count()).toBe(0);
        expect(opened.faults(/ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET/)).toEqual([]);
      },
    );

    testWithBrowser("a token that is changed on the server ends the session, with the reason", async () => {
      const opened = await open();
      const { page } = opened;
      // The API of the same stack, with another token: as after a rotation.
      await page.route("**/api/v1/admin/**", (route) =>
        route.continue({ headers: { ...route.request().headers(), "x-admin-token": "the-old-token" } }),
      );
      await page.getByText("The admin token is wrong.").waitFor();
      expect(await page.getByRole("textbox", { name: "Admin token" }).inputValue()).toBe("");
      expect(await page.getByRole("table").count()).toBe(0);
      expect(opened.faults(/status of 401/)).toEqual([]);
    });
  });
}
