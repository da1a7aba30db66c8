/** The evaluation of a paid policy on the page of claims. */
import { expect } from "vitest";
import { z } from "zod";
import { policyLabel } from "../../../dashboard/format/names.ts";
import type { OpenPage } from "../../support/chromium.ts";
import type { CheckedRequest } from "../../support/openapi.ts";
import type { Claim } from "./answers.ts";
import { amountsIn, figureOf } from "./dashboard.ts";
import { plotOf, sourceOf, table } from "./views.ts";

const evaluation = z.object({
  strikePrice: z.string(),
  triggerPrice: z.string(),
  rounds: z.array(z.object({ price: z.string(), updatedAt: z.string(), verdict: z.string() })),
  verdict: z.object({ code: z.literal("triggered"), message: z.string(), bondAmount: z.string() }),
});

/** Expects the page to evaluate this claim, with the prices and rounds that the API has. */
export async function expectEvaluation(
  request: CheckedRequest,
  opened: OpenPage,
  claim: Claim,
): Promise<void> {
  const title = `Price during ${policyLabel(claim.product_name, claim.policy_id)}`;
  await plotOf(opened, title).locator("canvas").waitFor();
  const path = `/api/v1/triggers/${claim.product_id}/${claim.policy_id}?limit=100`;
  const { strikePrice, triggerPrice, rounds, verdict } = evaluation.parse((await request(path)).json);
  const exact = (label: string) => figureOf(opened, label).locator("data").getAttribute("value");
  expect(await exact("Reference")).toBe(strikePrice);
  expect(await exact("Trigger")).toBe(triggerPrice);
  expect(await exact("Paid")).toBe(verdict.bondAmount);
  expect(await figureOf(opened, "Observed").textContent()).toContain("3 of 3");
  await opened.page.getByText(verdict.message).waitFor();
  const shown = table("Rounds of the price feed");
  expect(await amountsIn(opened, shown)).toEqual(rounds.map(({ price }) => price));
  const counting = rounds.filter((round) => round.verdict === "counts");
  expect(await opened.page.locator(shown).getByText("Counts", { exact: true }).count()).toBe(counting.length);
  const counts = opened.page.locator(table("Observations")).getByText(/^[123] of 3$/);
  expect(await counts.allInnerTexts()).toEqual(["3 of 3", "2 of 3", "1 of 3"]);
  expect(await sourceOf(opened, title)).toBe(path);
}
