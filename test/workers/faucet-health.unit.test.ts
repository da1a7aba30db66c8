/** Whether the faucet's claims can be signed, by their gas costs, without I/O. */
import { parseGwei } from "viem";
import { expect, test } from "vitest";
import { claimFault } from "../../workers/testnet/faucet-health.ts";

const fees = { maxFee: parseGwei("2"), priorityFee: 1n };
const transfer = { gasLimit: 125_000n, l1Fee: 3n };
/** Two transfers. */
const enough = 250_000n * fees.maxFee + 6n;

test("claims are signed while the rest of the day's budget covers the highest gas cost of one", () => {
  expect(claimFault(fees, transfer, enough)).toBeUndefined();
  expect(claimFault(fees, transfer, enough - 1n)).toBe("The gas that may be spent in a day (UTC) is spent.");
});

test("no claim is signed while gas costs more than the operator's cap", () => {
  expect(claimFault(undefined, transfer, enough)).toBe(
    "Gas costs more at present than the operator lets it cost.",
  );
});
