/** The Operator page in a browser. */
import type { Locator } from "playwright-core";
import { expect } from "vitest";
import { DEV_ADMIN_TOKEN } from "../../../lib/off-local.ts";
import { type OpenPage, openPage } from "../../support/chromium.ts";
import { settled } from "./dashboard.ts";

/** Opens the page, which asks for the token. */
async function openGate(apiUrl: string, path = "/operator"): Promise<OpenPage> {
  const opened = await openPage(apiUrl);
  await opened.page.goto(`${apiUrl}${path}`);
  await opened.page.getByRole("textbox", { name: "Admin token" }).waitFor();
  return opened;
}

/** Gives a token to the page that asks for it, by keys. */
async function giveToken({ page }: OpenPage, token = DEV_ADMIN_TOKEN): Promise<void> {
  await page.getByRole("textbox", { name: "Admin token" }).fill(token);
  await page.keyboard.press("Enter");
}

/** What a browser notes of a 503, which a busy machine may cause: the page asks again. */
const busy = "status of 503";

/** Everything that is wrong with the page, but for a busy machine's 503, and what `expected` matches. */
export const faultsOf = ({ faults }: OpenPage, expected?: RegExp): string[] =>
  faults(expected).filter((fault) => !fault.includes(busy));

/** Waits for what follows a token. A busy machine may refuse it with a 503: the operator tries again. */
async function afterToken({ page }: OpenPage, awaited: Locator): Promise<void> {
  await expect
    .poll(async () => {
      if ((await awaited.count()) > 0) return true;
      if ((await page.locator("#token-fault:not(:empty)").count()) > 0)
        await page.getByRole("button", { name: "Open" }).click();
      return false;
    })
    .toBe(true);
}

/** A table of each answer: with them, all of the page stands. */
const tables = ["Stops in force", "Gas and budgets", "Webhooks that are behind", "API keys"];

/** Opens the page with the token, and waits until all of it stands. */
export async function openDesk(apiUrl: string, path?: string): Promise<OpenPage> {
  const opened = await openGate(apiUrl, path);
  const { page } = opened;
  await giveToken(opened);
  await afterToken(opened, page.getByRole("heading", { name: "Keys" }));
  for (const name of tables) await page.getByRole("table", { name }).waitFor();
  await settled(opened);
  return opened;
}
