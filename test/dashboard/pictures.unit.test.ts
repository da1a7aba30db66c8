import { expect, test } from "vitest";
import { fallBps } from "../../dashboard/pages/claims/fall.ts";
import { pricePoints, triggerLevels } from "../../dashboard/pages/cover/price-picture.ts";
import { placeLabels } from "../../dashboard/plot/level-labels.ts";

test("labels of levels that are close stand beside each other, and one without room is left out", () => {
  const room = { left: 0, right: 200, height: 16, gap: 10 };
  const [first, second, far, last] = placeLabels(
    [
      { y: 100, width: 80 },
      { y: 108, width: 60 },
      { y: 150, width: 80 },
      { y: 104, width: 60 },
    ],
    room,
  );
  expect([first, second, far, last]).toEqual([200, 110, 200, undefined]);
});

const price = (timestamp: number, value: string) => ({
  timestamp: String(timestamp),
  ...{ price: value, lowest: value, highest: value, rounds: 1 },
});
const hour = { from: "1000", to: "4600", step_seconds: 12 };

test("the price before a range holds from its start, and the newest one until its last step", () => {
  expect(pricePoints({ ...hour, points: [price(400, "60"), price(2000, "59")] })).toEqual([
    { at: 1000, value: "60" },
    { at: 2000, value: "59" },
    { at: 4588, value: "59" },
  ]);
  expect(pricePoints({ ...hour, points: [price(4590, "59")] })).toEqual([{ at: 4590, value: "59" }]);
  expect(pricePoints({ ...hour, points: [] })).toEqual([]);
});

test("policies with one trigger price share a line, and one without has none", () => {
  const policy = (policyId: string, triggerPrice: string | null) => ({
    ...{ productName: "FLASHBTC24-001", policyId, triggerPrice },
  });
  expect(
    triggerLevels([policy("1", "585"), policy("2", "570"), policy("3", "585"), policy("4", null)]),
  ).toEqual([
    { value: "585", label: "BTC 24 h, policy 1 and 1 more" },
    { value: "570", label: "BTC 24 h, policy 2" },
  ]);
});

test("a fall is cut to whole basis points, and a rise is below zero", () => {
  expect(fallBps("60000", "58500")).toBe(250);
  expect(fallBps("60000", "58501")).toBe(249);
  expect(fallBps("60000", "60600")).toBe(-100);
  expect(fallBps("0", "1")).toBeUndefined();
});
