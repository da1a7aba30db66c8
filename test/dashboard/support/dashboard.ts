/** The dashboard in a browser, on a real stack. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect } from "vitest";
import { z } from "zod";
import { type Look, type OpenPage, openPage } from "../../support/chromium.ts";

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const axeResult = z.object({
  violations: z.array(z.object({ id: z.string(), nodes: z.array(z.object({ html: z.string() })) })),
});

/** Opens a page of the dashboard and waits until its sentence stands. */
export async function openDashboard(apiUrl: string, path: string, look?: Look): Promise<OpenPage> {
  const opened = await openPage(apiUrl, look);
  await opened.page.goto(`${apiUrl}${path}`);
  await opened.page.locator(".head .sentence").waitFor();
  await settled(opened);
  return opened;
}

/** Waits until nothing on the page is still loading. */
export const settled = ({ page }: OpenPage): Promise<void> =>
  expect.poll(() => page.locator("[aria-busy]").count()).toBe(0);

/** Expects that axe finds nothing, and that the page is not wider than its window. */
export async function expectAccessible({ page }: OpenPage): Promise<void> {
  await page.evaluate(axeSource);
  const { violations } = axeResult.parse(await page.evaluate("axe.run()"));
  expect(violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)])).toEqual([]);
  const overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
  expect(await page.evaluate(overflow)).toBe(0);
}

/** The exact values of all amounts in an element, as the API gives them: each amount carries it. */
export const amountsIn = ({ page }: OpenPage, selector: string): Promise<string[]> =>
  page
    .locator(`${selector} data.amount`)
    .evaluateAll((amounts) => amounts.map((amount) => amount.getAttribute("value") ?? ""));

/** The value of the figure with this label. */
export const figureOf = ({ page }: OpenPage, label: string) =>
  page.locator(".figure", { has: page.locator("dt", { hasText: label }) }).locator(".value");

/** Opens the table of the plot with this title. @returns its exact values, the newest first */
export async function plotValues(opened: OpenPage, title: string): Promise<string[]> {
  const plot = opened.page.locator("figure.plot", {
    has: opened.page.getByRole("heading", { name: title, exact: false }),
  });
  if ((await plot.locator("details[open]").count()) === 0)
    await plot.getByText("Table", { exact: true }).click();
  await plot.getByRole("table").waitFor();
  return amountsIn(opened, `section[aria-label='${title}']`);
}
