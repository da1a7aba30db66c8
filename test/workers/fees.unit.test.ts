import { describe, expect, test } from "vitest";
import { bumpedFees, callCap, initialFees } from "../../workers/relayer/fees.ts";

const gwei = 1_000_000_000n;

describe("the fees of a transaction", () => {
  test.each([
    { baseFee: 1n * gwei, priorityFee: 1n * gwei, cap: 50n * gwei, maxFee: 3n * gwei, tip: 1n * gwei },
    { baseFee: 0n, priorityFee: 0n, cap: 50n * gwei, maxFee: 0n, tip: 0n },
    { baseFee: 30n * gwei, priorityFee: 1n * gwei, cap: 50n * gwei, maxFee: 50n * gwei, tip: 1n * gwei },
    { baseFee: 50n * gwei, priorityFee: 60n * gwei, cap: 50n * gwei, maxFee: 50n * gwei, tip: 50n * gwei },
  ])("base $baseFee, tip $priorityFee, cap $cap", ({ baseFee, priorityFee, cap, maxFee, tip }) => {
    expect(initialFees({ baseFee, priorityFee }, cap)).toEqual({ maxFee, priorityFee: tip });
  });

  test("nothing is signed while the base fee is above the cap", () => {
    expect(initialFees({ baseFee: 51n * gwei, priorityFee: 0n }, 50n * gwei)).toBeUndefined();
  });

  test.each([0n, 1n, 7n, 8n, 9n, 1n * gwei, 3n * gwei + 1n])("a bump of %s is at least an eighth", (fee) => {
    const bumped = bumpedFees(
      [{ maxFee: fee, priorityFee: fee }],
      { baseFee: 0n, priorityFee: 0n },
      50n * gwei,
    );
    expect((bumped?.maxFee ?? 0n) * 8n).toBeGreaterThanOrEqual(fee * 9n);
    expect((bumped?.priorityFee ?? 0n) * 8n).toBeGreaterThanOrEqual(fee * 9n);
  });

  test("a bump is above every form that was signed, whichever has the higher fee", () => {
    const forms = [
      { maxFee: 80n, priorityFee: 8n },
      { maxFee: 16n, priorityFee: 16n },
    ];
    const bumped = bumpedFees(forms, { baseFee: 0n, priorityFee: 0n }, 50n * gwei);
    expect(bumped).toEqual({ maxFee: 91n, priorityFee: 19n });
  });

  test.each([0n, 1n, 2n, 9n, 10n, 11n, 50n * gwei, 50n * gwei + 7n])(
    "below a cap of %s wei a call leaves room for one cancelling transfer, and for no wei more",
    (cap) => {
      const none = { baseFee: 0n, priorityFee: 0n };
      const bumped = (maxFee: bigint) => bumpedFees([{ maxFee, priorityFee: maxFee }], none, cap);
      const highest = callCap(cap);
      if (cap > 0n) expect(bumped(highest)).toBeDefined();
      expect(bumped(highest + 1n)).toBeUndefined();
    },
  );

  test("a bump rises to the market's fees at once, and never above the cap", () => {
    const last = { maxFee: 3n * gwei, priorityFee: 1n * gwei };
    expect(bumpedFees([last], { baseFee: 10n * gwei, priorityFee: 2n * gwei }, 50n * gwei)).toEqual({
      maxFee: 22n * gwei,
      priorityFee: 2n * gwei,
    });
    expect(bumpedFees([last], { baseFee: 90n * gwei, priorityFee: 2n * gwei }, 50n * gwei)?.maxFee).toBe(
      50n * gwei,
    );
    expect(
      bumpedFees([{ ...last, maxFee: 45n * gwei }], { baseFee: 0n, priorityFee: 0n }, 50n * gwei),
    ).toBeUndefined();
  });
});
