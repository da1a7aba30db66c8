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
  metAt: z.string(),
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
  const { strikePrice, triggerPrice, rounds, verdict, metAt } = evaluation.parse((await request(path)).json);
  const exact = (label: string) => figureOf(opened, label).locator("data").getAttribute("value");
  expect(await exact("Reference")).toBe(strikePrice);
  expect(await exact("Trigger")).toBe(triggerPrice);
  expect(await exact("Paid")).toBe(verdict.bondAmount);
  const proof = rounds
    .filter((round) => round.verdict === "counts" && BigInt(round.updatedAt) <= BigInt(metAt))
    .toReversed();
  expect(await exact("Third round")).toBe(proof[2]?.price);
  await opened.page.getByText(verdict.message).waitFor();
  const shown = table("Rounds of the price feed");
  expect(await amountsIn(opened, shown)).toEqual(rounds.map(({ price }) => price));
  expect(await opened.page.locator(shown).getByText("Counts, proves it").count()).toBe(3);
  expect(await sourceOf(opened, title)).toBe(path);
}
