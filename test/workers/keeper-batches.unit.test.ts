/** The keeper's batches: what shares a transaction, in which order, and how a batch is simulated. */
import { decodeFunctionData, getAddress, multicall3Abi } from "viem";
import { expect, test } from "vitest";
import { type Batch, batchesOf, type Ready, strictCall } from "../../workers/keeper/batches.ts";
import { multicall3, triggerOf } from "./support/keeper-triggers.ts";

const ready = (n: number, { gas = 100_000n, alone = false } = {}): Ready => ({
  task: triggerOf(n),
  gas,
  alone,
});
const idsOf = (batches: readonly Batch[]) =>
  batches.map(({ tasks }) => tasks.map(({ policyId }) => Number(policyId)));
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);

function callsOf({ data }: Pick<Batch, "data">) {
  const { functionName, args } = decodeFunctionData({ abi: multicall3Abi, data });
  if (functionName !== "aggregate3") throw new Error(`a call of ${functionName}`);
  return args[0];
}

test("a batch makes the calls of its tasks in their order, and each may fail without the others", () => {
  const [batch, ...others] = batchesOf(
    upTo(3).map((n) => ready(n)),
    multicall3,
  );
  expect(others).toEqual([]);
  expect(batch).toMatchObject({ purpose: "trigger", to: multicall3 });
  expect(batch && callsOf(batch)).toEqual(
    upTo(3).map((n) => ({
      ...{ target: getAddress(triggerOf(n).to), allowFailure: true, callData: triggerOf(n).data },
    })),
  );
});

test("the gas of a batch by its simulation stays within ten million", () => {
  const batches = batchesOf(
    upTo(250).map((n) => ready(n)),
    multicall3,
  );
  expect(batches.map(({ tasks }) => tasks.length)).toEqual([100, 100, 50]);
  expect(idsOf(batches).flat()).toEqual(upTo(250));
});

test("a task that is to be alone has a transaction of its own, and leaves the batch before it open", () => {
  const batches = batchesOf([ready(0), ready(1, { alone: true }), ready(2)], multicall3);
  expect(idsOf(batches)).toEqual([[0, 2], [1]]);
  expect(batches[1]).toMatchObject({ to: triggerOf(1).to, data: triggerOf(1).data });
});

test("a single task is called without Multicall3, also one that needs more gas than a batch has", () => {
  expect(batchesOf([ready(0, { gas: 20_000_000n })], multicall3)).toMatchObject([
    { to: triggerOf(0).to, data: triggerOf(0).data },
  ]);
});

test("without Multicall3 each has a transaction of its own", () => {
  const batches = batchesOf(
    upTo(3).map((n) => ready(n)),
    undefined,
  );
  expect(idsOf(batches)).toEqual([[0], [1], [2]]);
  expect(batches.map(({ to }) => to)).toEqual(upTo(3).map((n) => triggerOf(n).to));
});

test("a batch is simulated as one that fails with any of its calls; another call as it is", () => {
  const [batch] = batchesOf([ready(0), ready(1)], multicall3);
  if (!batch) throw new Error("no batch");
  const strict = strictCall(batch, multicall3);
  expect(strict.to).toBe(multicall3);
  expect(callsOf(strict)).toEqual(callsOf(batch).map((call) => ({ ...call, allowFailure: false })));
  const { to, data } = triggerOf(0);
  expect(strictCall({ to, data }, multicall3)).toEqual({ to, data });
  expect(strictCall({ to, data }, undefined)).toEqual({ to, data });
});
