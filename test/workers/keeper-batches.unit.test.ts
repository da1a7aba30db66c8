/** The keeper's batches: what shares a transaction, in which order, and with how much gas. */
import { expect, test } from "vitest";
import {
  policiesOfUpkeep,
  settleCalldata,
  submitCalldata,
  upkeepCalldata,
  upkeepGas,
} from "../../lib/chain/trigger.ts";
import { type Batch, batchesOf, type Ready } from "../../workers/keeper/batches.ts";
import { expiryTask, triggerTask, type Way } from "../../workers/keeper/task.ts";
import { coverRouter, keeperWallet, productOf, shieldKeeper, triggerOf } from "./support/keeper-triggers.ts";

const ready = (n: number, { alone = false, productId = productOf(7) } = {}): Ready => ({
  task: triggerOf(n, { productId }),
  gas: 100_000n,
  alone,
  runsCodeOf: null,
});
const idsOf = (batches: readonly Batch[]) =>
  batches.map(({ data }) => policiesOfUpkeep(data)?.policyIds.map(Number));
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);

test("a batch is an upkeep of its tasks' policies in their order, with a fixed gas limit", () => {
  const [batch, ...others] = batchesOf(upTo(3).map((n) => ready(n)));
  expect(others).toEqual([]);
  expect(batch).toEqual({
    ...{ purpose: "trigger", tasks: upTo(3).map((n) => triggerOf(n)), gas: upkeepGas(3) },
    runsCodeOf: null,
    ...{ to: shieldKeeper, data: upkeepCalldata(productOf(7), [0n, 1n, 2n]) },
  });
});

test("an upkeep has ten policies of one product at most", () => {
  const all = upTo(25).map((n) => ready(n, { productId: productOf(n % 2) }));
  const batches = batchesOf(all);
  expect(batches.map(({ tasks }) => tasks.length)).toEqual([10, 10, 3, 2]);
  for (const { data, tasks, gas } of batches) {
    expect(policiesOfUpkeep(data)).toEqual({
      productId: tasks[0]?.productId,
      policyIds: tasks.map(({ policyId }) => policyId),
    });
    expect(new Set(tasks.map(({ productId }) => productId)).size).toBe(1);
    expect(gas).toBe(upkeepGas(tasks.length));
  }
});

test("a task that is to be alone has an upkeep of its own, after all others", () => {
  expect(idsOf(batchesOf([ready(0), ready(1, { alone: true }), ready(2)]))).toEqual([[0, 2], [1]]);
});

test("an upkeep is no larger than the gas that can be paid for", () => {
  const batches = batchesOf(
    upTo(5).map((n) => ready(n)),
    upkeepGas(2),
  );
  expect(idsOf(batches)).toEqual([[0, 1], [2, 3], [4]]);
});

test("expired policies are closed one by one, with a quarter more gas than by simulation", () => {
  const policyManager = `0x${"d".repeat(40)}` as const;
  const tasks = [1n, 2n].map((policyId) =>
    expiryTask({ policyManager }, { productId: productOf(7), policyId }),
  );
  const batches = batchesOf(tasks.map((task) => ({ task, gas: 100_000n, alone: false, runsCodeOf: null })));
  expect(batches).toEqual(
    tasks.map((task) => ({
      ...{
        purpose: "expire",
        tasks: [task],
        gas: 125_000n,
        runsCodeOf: null,
        to: policyManager,
        data: task.data,
      },
    })),
  );
});

const [shield, buyer] = [`0x${"a".repeat(40)}`, `0x${"b".repeat(40)}`] as const;
const due = {
  ...{ productId: productOf(7), policyId: 1n, shield, buyer, expiresAt: 2_000n },
  ...{ observation: 2, lastMoment: 1_940n, changedIn: 9n },
};
const third = { ...due, observation: 3 };
const by = (way: Way) => ({ way, wallet: keeperWallet });

test("only the third observation pays the buyer; without keeper contract or adapter there is no upkeep", () => {
  expect(triggerTask({ shieldKeeper, coverRouter }, due, by("upkeep"))).toMatchObject({
    ...{ receiver: null, deadline: 1_940n, changedIn: 9n, to: shieldKeeper, isShared: true },
    simulated: { from: shieldKeeper, to: shield },
  });
  expect(triggerTask({ shieldKeeper, coverRouter }, third, by("upkeep"))?.receiver).toBe(buyer);
  expect(triggerTask({ coverRouter }, due, by("upkeep"))).toBeUndefined();
  expect(triggerTask({ shieldKeeper, coverRouter }, { ...due, shield: null }, by("upkeep"))).toBeUndefined();
});

test("an adapter settles one policy in a call of its relayer; the router takes third observations alone", () => {
  const direct = { from: keeperWallet, to: shield, data: settleCalldata(1n) };
  expect(triggerTask({ coverRouter }, due, by("adapter"))).toMatchObject({
    ...{ to: shield, data: direct.data, isShared: false, simulated: direct },
  });
  expect(triggerTask({ coverRouter }, due, by("router"))).toBeUndefined();
  expect(triggerTask({ coverRouter }, third, by("router"))).toMatchObject({
    ...{ to: coverRouter, data: submitCalldata(third), receiver: buyer, isShared: false },
    simulated: { from: keeperWallet, to: coverRouter },
  });
  const tasks = [third, { ...third, policyId: 2n }].flatMap(
    (one) => triggerTask({ coverRouter }, one, by("adapter")) ?? [],
  );
  const batches = batchesOf(tasks.map((task) => ({ task, gas: 1n, alone: false, runsCodeOf: null })));
  expect(batches.map(({ data, gas }) => [data, gas])).toEqual([
    [settleCalldata(1n), upkeepGas(1)],
    [settleCalldata(2n), upkeepGas(1)],
  ]);
});
