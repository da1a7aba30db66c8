/** Whether the faucet's claims can be signed, by their gas costs, without I/O. */
import { parseGwei } from "viem";
import { expect, test } from "vitest";
import { claimFault } from "../../workers/testnet/faucet-health.ts";

const fees = { maxFee: parseGwei("2"), priorityFee: 1n };
/** Two transfers of 125,000 gas each. */
const enough = 250_000n * fees.maxFee;

test("claims are signed while the rest of the day's budget covers the highest gas cost of one", () => {
  expect(claimFault(fees, enough)).toBeUndefined();
  expect(claimFault(fees, enough - 1n)).toBe("The gas that may be spent in a day (UTC) is spent.");
});

test("no claim is signed while gas costs more than the operator's cap", () => {
  expect(claimFault(undefined, enough)).toBe("Gas costs more at present than the operator lets it cost.");
});
