/** Whether a task of the keeper may be begun, from what the ledger knows of it. */
import { numberToHex } from "viem";
import { expect, test } from "vitest";
import { judgeTask } from "../../workers/keeper/startable-tasks.ts";
import type { TaskRecord } from "../../workers/keeper/task-records.ts";

const HEAD = 100n;
const blockAt = (number: bigint) => ({ number, hash: numberToHex(number, { size: 32 }) });

type Transaction = NonNullable<TaskRecord["transaction"]>;
const record = (transaction: Partial<Transaction> | null, waitsToRetry = false): TaskRecord => ({
  ...{ failures: waitsToRetry ? 1 : 0, waitsToRetry },
  transaction: transaction && {
    ...{
      id: "1",
      state: "accepted",
      abandoned: false,
      block: null,
      failureCode: null,
      failure: null,
    },
    ...transaction,
  },
});
const kindOf = (...args: Parameters<typeof record>) => judgeTask(record(...args), HEAD).kind;

test("a task that was never begun may be begun, and so may one whose wait after a failure is over", () => {
  expect(judgeTask(undefined, HEAD)).toEqual({ kind: "startable" });
  expect(kindOf(null)).toBe("startable");
  expect(kindOf(null, true)).toBe("busy");
});

test("a task in a transaction that is not mined is busy", () => {
  for (const state of ["accepted", "signed", "broadcast"] as const) expect(kindOf({ state })).toBe("busy");
});

test("a task in a transaction that nobody may ever send may be begun", () => {
  for (const state of ["accepted", "signed", "broadcast"] as const) {
    expect(kindOf({ state, abandoned: true })).toBe("startable");
    expect(kindOf({ state, abandoned: true }, true)).toBe("busy");
  }
});

test("a task in a mined transaction waits until the index has its block, and has failed if it is there still", () => {
  for (const state of ["mined", "confirmed"] as const) {
    expect(kindOf({ state, block: blockAt(HEAD + 1n) })).toBe("busy");
    expect(judgeTask(record({ state, block: blockAt(HEAD) }), HEAD)).toEqual({
      ...{ kind: "failed", reason: `its call failed in block ${HEAD}`, block: blockAt(HEAD) },
    });
  }
});

test("a transaction up to the policy's last observation or reset has done its work: the next observation may begin", () => {
  for (const state of ["mined", "confirmed"] as const) {
    const mined = record({ state, block: blockAt(HEAD - 5n) });
    for (const changedIn of [HEAD - 5n, HEAD])
      expect(judgeTask(mined, HEAD, changedIn)).toEqual({ kind: "startable", isNew: true });
    expect(judgeTask(mined, HEAD, HEAD - 6n).kind).toBe("failed");
    expect(judgeTask(record({ state, block: blockAt(HEAD + 1n) }), HEAD, HEAD).kind).toBe("busy");
  }
});

test("a task in a transaction that reverted in a block has failed for the reason of the revert", () => {
  const reverted = { state: "failed", failureCode: "onchain_revert", failure: "ORACLE_STALE" } as const;
  expect(kindOf({ ...reverted, block: blockAt(HEAD + 1n) })).toBe("busy");
  expect(judgeTask(record({ ...reverted, block: blockAt(HEAD) }), HEAD)).toEqual({
    ...{ kind: "failed", reason: "ORACLE_STALE", block: blockAt(HEAD) },
  });
});

test("a call that was refused before it was signed has failed", () => {
  const refused = { state: "failed", failureCode: "onchain_revert", failure: "KeeperPausedError" } as const;
  expect(judgeTask(record(refused), HEAD)).toEqual({
    kind: "failed",
    reason: "KeeperPausedError",
    block: null,
  });
});

test("a task may be begun, and has not failed, when its transaction was refused because the wallet could not sign", () => {
  for (const failureCode of ["out_of_eth", "claim_expired", "chain_not_found"]) {
    expect(kindOf({ state: "failed", failureCode, failure: "no" })).toBe("startable");
    expect(kindOf({ state: "failed", failureCode, failure: "no" }, true)).toBe("busy");
  }
});

test("a task may be begun when another transaction took the place of its own", () => {
  expect(kindOf({ state: "replaced" })).toBe("startable");
});
