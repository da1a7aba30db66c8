/** What tests of pages look at: plots, tables, and the view in the address. */
import { expect } from "vitest";
import type { OpenPage } from "../../support/chromium.ts";
import { expectAccessibleEverywhere, settled } from "./dashboard.ts";

/** A table by its caption. */
export const table = (caption: string) => `section[aria-label='${caption}']`;
/** A plot by its title. */
export const plotOf = ({ page }: OpenPage, title: string) =>
  page.locator(".plot", { has: page.getByRole("heading", { name: title }) });

/** Loads the page again, as somebody does who was sent its address. */
export async function reload(opened: OpenPage): Promise<void> {
  await opened.page.reload();
  await opened.page.locator(".head .sentence").waitFor();
  await settled(opened);
}

/** The address of the data behind a table or a plot. */
export const sourceOf = async ({ page }: OpenPage, what: string): Promise<string> =>
  (await page.getByRole("link", { name: `${what} as JSON` }).getAttribute("href")) ?? "";

/** Expects axe and a narrow window to find nothing, in both schemes. */
export async function expectNothingInTheWay(opened: OpenPage): Promise<void> {
  await expectAccessibleEverywhere(opened);
  expect(opened.faults()).toEqual([]);
}

/** The choice that is shown of a row of choices. */
export const chosenIn = (opened: OpenPage, label: string) =>
  opened.page.getByRole("navigation", { name: label }).locator("[aria-current]").textContent();

/** The words in a column of a table, the first being 1. */
export const wordsIn = ({ page }: OpenPage, caption: string, column: number): Promise<string[]> =>
  page.locator(`${table(caption)} tbody td:nth-child(${column})`).allTextContents();
