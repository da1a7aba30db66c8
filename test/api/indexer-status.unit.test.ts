/** When the index's health calls the chain quiet. */
import { expect, test } from "vitest";
import { type IndexPosition, indexerStatus } from "../../api/indexed/status.ts";

const position: IndexPosition = {
  reads: "newest",
  block: 7n,
  timestamp: 0n,
  alive: true,
  heartbeatAt: 0n,
};

test.each([
  [60_000, "caught_up"],
  [60_001, "quiet"],
])("%i ms after its last block came, a chain is %s, whatever its own clock says", (since, condition) => {
  const { status, condition: found } = indexerStatus(position, { number: 7n, arrivedAt: 5 }, 5 + since);
  expect([status, found]).toEqual(["synced", condition]);
});
