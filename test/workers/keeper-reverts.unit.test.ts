/** What a simulated call's revert says of the keeper's work. */
import { expect, test } from "vitest";
import { ofRevert } from "../../workers/keeper/simulate.ts";

const revert = (name: string) => ({ name, text: name, data: "0x" }) as const;

test.each(["trigger", "expire"] as const)("a closed policy is done: %s", (purpose) => {
  for (const name of ["Already triggered", "Already expired"])
    expect(ofRevert({ purpose }, revert(name))).toEqual({ kind: "done" });
});

test.each([
  "OracleUnavailableRetry",
  "ORACLE_INVALID",
  "ORACLE_INCOMPLETE_ROUND",
  "ORACLE_ROUND_NOT_COMPLETE",
  "ORACLE_FUTURE_TS",
])("an expiry waits while the feed cannot be read, which is no failure: %s", (name) => {
  expect(ofRevert({ purpose: "expire" }, revert(name))).toEqual({ kind: "idle" });
  expect(ofRevert({ purpose: "trigger" }, revert(name))).toEqual({ kind: "reverts", reason: name });
});

test("any other revert is a failure", () => {
  expect(ofRevert({ purpose: "expire" }, revert("Not expired yet"))).toMatchObject({ kind: "reverts" });
});
