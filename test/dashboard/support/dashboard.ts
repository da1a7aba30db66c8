/** The dashboard in a browser, on a real stack. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect } from "vitest";
import { z } from "zod";
import { type Look, type OpenPage, openPage } from "../../support/chromium.ts";

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The rules of axe whose result depends on colours. All others see the same page in both schemes. */
const ofColours = ["color-contrast", "link-in-text-block"];

/** Waits until every new row stands. */
const arrived = `Promise.allSettled(document.getAnimations()
  .filter(({ animationName }) => animationName === "arrive").map(({ finished }) => finished))`;

/** What axe finds: each rule with its elements. Of what passes, which is thousands of elements, it keeps no details. */
async function violations({ page }: OpenPage, rules?: readonly string[]): Promise<string[][]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axeSource);
  // A new row arrives out of nothing: until it has, its text has too little contrast.
  await page.evaluate(arrived);
  const runOnly = rules && { type: "rule", values: rules };
  const options = JSON.stringify({ resultTypes: ["violations"], runOnly });
  const found = await page.evaluate(`axe.run(document, ${options}).then(({ violations }) =>
    violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]))`);
  return z.array(z.array(z.string())).parse(found);
}

/** Opens a page of the dashboard and waits until its sentence stands. */
export async function openDashboard(apiUrl: string, path: string, look?: Look): Promise<OpenPage> {
  const opened = await openPage(apiUrl, look);
  await opened.page.goto(`${apiUrl}${path}`);
  await opened.page.locator(".head .sentence").waitFor();
  await settled(opened);
  return opened;
}

/** Waits until nothing on the page is still loading, nor waits to be read again after a busy database's 503. */
export const settled = ({ page }: OpenPage): Promise<void> => {
  const unread = page.getByText("The index cannot be read now");
  return expect.poll(() => page.locator("[aria-busy]").or(unread).count()).toBe(0);
};

/** The elements that reach beyond the window, where the page is wider than that; those in a scrolling part are no fault. */
const tooWide = `(() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth === clientWidth) return [];
  const beyond = [...document.body.querySelectorAll("*")].filter(
    (one) => one.getBoundingClientRect().right > clientWidth && !one.closest(".scroll"));
  return beyond.map((one) => one.outerHTML.slice(0, 120));
})()`;

/** Expects that axe finds nothing, and that the page is not wider than its window. */
export async function expectAccessible(opened: OpenPage): Promise<void> {
  expect(await violations(opened)).toEqual([]);
  await expectToFit(opened);
}

/** Expects that the page is not wider than its window. */
export async function expectToFit({ page }: Pick<OpenPage, "page">): Promise<void> {
  expect(await page.evaluate(tooWide)).toEqual([]);
}

/**
 * Expects it narrow and wide, light and dark, and leaves the page wide and light.
 * @param look is called in each of the four, with a name for it
 */
export async function expectAccessibleEverywhere(
  opened: OpenPage,
  look: (variant: string) => Promise<void> = async () => {},
): Promise<void> {
  const { page } = opened;
  for (const width of [320, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await violations(opened, ofColours)).toEqual([]);
    await look(`${width}-dark`);
    await page.emulateMedia({ colorScheme: "light" });
    await expectAccessible(opened);
    await look(`${width}-light`);
  }
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

/** The scrolling part of the table with this caption. */
export const table = (caption: string) => `section[aria-label='${caption}']`;

/** The section with this heading. */
export const part = (title: string) => `section:has(> .section-head h2:text-is("${title}"))`;

/** The exact value of a figure: of its first amount, or what the title of a percentage says. */
export const exactFigure = (opened: OpenPage, label: string) =>
  figureOf(opened, label).locator("data").first().getAttribute("value");
export const exactPercent = (opened: OpenPage, label: string) =>
  figureOf(opened, label).locator("span").first().getAttribute("title");

/** The exact percentages of an element, as their titles say them. */
export const percentsIn = ({ page }: OpenPage, selector: string): Promise<string[]> =>
  page.locator(`${selector} span.amount`).evaluateAll((all) => all.map(({ title }) => title));

/** Follows a link among choices, and waits for its view. */
export async function choose(opened: OpenPage, label: string, option: string): Promise<void> {
  const choices = opened.page.getByRole("navigation", { name: label });
  await choices.getByRole("link", { name: option, exact: true }).click();
  await choices.locator("[aria-current]", { hasText: option }).waitFor();
  await settled(opened);
}
