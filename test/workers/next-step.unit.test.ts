import { type Hex, numberToHex } from "viem";
import { describe, expect, test } from "vitest";
import type { OpenAttempt } from "../../workers/ledger/transactions.ts";
import {
  BUMP_AFTER,
  DROPPED_BUMP_AFTER,
  isProvenLost,
  LOOK_AFTER,
  nextStep,
  SEND_AGAIN_AFTER,
  SIGN_AFTER,
} from "../../workers/relayer/recovery/next-step.ts";

const hash = (n: number): Hex => numberToHex(n, { size: 32 });

describe("the next step for an open transaction", () => {
  const attempt = (sentAgo: number | null, age: number): OpenAttempt => ({
    hash: hash(1),
    bytes: "0x00",
    maxFee: 1n,
    priorityFee: 1n,
    sentAgo,
    age,
    cancels: false,
    untaken: false,
  });
  const ttl = 600;
  /** Its newest form counts, as long as no block with another one fell out of the chain. */
  const stepOf = (
    transaction: Omit<Parameters<typeof nextStep>[0], "wanted">,
    view: Parameters<typeof nextStep>[1],
    wanted = transaction.attempts.at(-1)?.hash,
  ) => nextStep({ ...transaction, wanted }, view, ttl);
  const waiting = { kind: "purchase" as const, openFor: 0, stopped: false, halted: false };
  const node = { pooledNonce: 9, baseFee: 1n };
  test.each([
    { what: "its writer may be about to store them", openFor: SIGN_AFTER - 1, halted: false, step: "wait" },
    { what: "its writer has died", openFor: SIGN_AFTER, halted: false, step: "sign" },
    { what: "the operator has stopped everything", openFor: SIGN_AFTER, halted: true, step: "wait" },
  ])("a nonce without bytes, because $what: $step", ({ openFor, halted, step }) => {
    const transaction = { ...waiting, nonce: 5, attempts: [], openFor, halted };
    expect(stepOf(transaction, { ...node, minedNonce: 5 }).do).toBe(step);
  });

  test.each([
    { what: "waited too long", openFor: ttl, stopped: false, cancels: true },
    { what: "was stopped", openFor: SIGN_AFTER, stopped: true, cancels: true },
    { what: "is still wanted", openFor: SIGN_AFTER, stopped: false, cancels: false },
  ])(
    "a nonce without bytes of a purchase that $what: signed as a cancellation $cancels",
    ({ cancels, ...more }) => {
      const transaction = { ...waiting, nonce: 5, attempts: [], ...more };
      expect(stepOf(transaction, { ...node, minedNonce: 5 })).toEqual({ do: "sign", cancels });
    },
  );

  test.each([
    { name: "never sent", nonce: 5, sentAgo: null, age: 0, minedNonce: 5, step: "send" },
    { name: "just sent", nonce: 5, sentAgo: 1, age: 1, minedNonce: 5, step: "wait" },
    { name: "sent a while ago", nonce: 5, sentAgo: SEND_AGAIN_AFTER, age: 6, minedNonce: 5, step: "send" },
    {
      name: "the lowest nonce, signed long ago",
      nonce: 5,
      sentAgo: 1,
      age: BUMP_AFTER,
      minedNonce: 5,
      step: "bump",
    },
    {
      name: "the lowest nonce, signed a while ago",
      nonce: 5,
      sentAgo: 1,
      age: BUMP_AFTER - 1,
      minedNonce: 5,
      step: "wait",
    },
    {
      name: "the lowest nonce, signed a while ago, and not in the node's pool",
      nonce: 5,
      sentAgo: 1,
      age: DROPPED_BUMP_AFTER,
      minedNonce: 5,
      pooledNonce: 5,
      step: "bump",
    },
    { name: "a higher nonce, signed long ago", nonce: 6, sentAgo: 1, age: 99, minedNonce: 5, step: "wait" },
    {
      name: "a higher nonce, sent a while ago",
      nonce: 6,
      sentAgo: 9,
      age: 99,
      minedNonce: 5,
      step: "send",
    },
    { name: "nonce used, just sent", nonce: 4, sentAgo: LOOK_AFTER - 1, age: 2, minedNonce: 5, step: "wait" },
    { name: "nonce used", nonce: 4, sentAgo: LOOK_AFTER, age: 9, minedNonce: 5, step: "look" },
    { name: "nonce used, never sent", nonce: 4, sentAgo: null, age: 9, minedNonce: 5, step: "look" },
  ])("$name: $step", ({ nonce, sentAgo, age, minedNonce, pooledNonce = 9, step }) => {
    const transaction = { ...waiting, nonce, attempts: [attempt(sentAgo, age)] };
    expect(stepOf(transaction, { ...node, minedNonce, pooledNonce }).do).toBe(step);
  });

  test.each([
    { name: "in the pool", pooledNonce: 6, sentAgo: 99, step: "wait" },
    { name: "not in the pool", pooledNonce: 5, sentAgo: 99, step: "bump" },
    { name: "never sent", pooledNonce: 6, sentAgo: null, step: "bump" },
  ])("while no block comes, only what the pool lacks is repeated: $name: $step", (one) => {
    const { pooledNonce, sentAgo, step } = one;
    const transaction = { ...waiting, nonce: 5, attempts: [attempt(sentAgo, 99)] };
    const view = { ...node, minedNonce: 5, pooledNonce, noNewBlock: true };
    expect(stepOf(transaction, view).do).toBe(step);
  });

  test.each([
    { name: "refused although above the base fee", untaken: true, baseFee: 1n, step: "wait" },
    { name: "refused, and below the base fee", untaken: true, baseFee: 2n, step: "bump" },
    { name: "accepted, and below the base fee", untaken: false, baseFee: 2n, step: "bump" },
  ])("a fee is raised only where a higher fee helps: $name: $step", ({ untaken, baseFee, step }) => {
    const attempts = [{ ...attempt(1, BUMP_AFTER), untaken }];
    const transaction = { ...waiting, nonce: 5, attempts };
    expect(stepOf(transaction, { minedNonce: 5, pooledNonce: 5, baseFee }).do).toBe(step);
  });

  test.each([
    { name: "the lowest nonce", nonce: 5 },
    { name: "a higher nonce", nonce: 90 },
    { name: "never sent", nonce: 90, sentAgo: null },
  ])("a form below the base fee is raised at once: $name", ({ nonce, sentAgo = 1 }) => {
    const transaction = { ...waiting, nonce, attempts: [attempt(sentAgo, 1)] };
    expect(stepOf(transaction, { ...node, minedNonce: 5, baseFee: 2n }).do).toBe("bump");
  });

  test.each([
    { due: "sending", attempts: [attempt(null, 1)], nonce: 5, step: "wait" },
    { due: "a higher fee", attempts: [attempt(9, BUMP_AFTER)], nonce: 5, step: "wait" },
    { due: "cancelling", attempts: [attempt(9, 9)], nonce: 5, openFor: ttl, step: "wait" },
    { due: "looking for a used nonce", attempts: [attempt(9, 9)], nonce: 4, step: "look" },
  ])("while everything is stopped nothing is signed or sent: $due: $step", ({ step, ...more }) => {
    const transaction = { ...waiting, halted: true, ...more };
    expect(stepOf(transaction, { ...node, minedNonce: 5 }).do).toBe(step);
  });

  test("the newest signed form is sent", () => {
    const newest = { ...attempt(null, 0), hash: hash(2) };
    expect(
      stepOf(
        { ...waiting, nonce: 5, attempts: [attempt(1, 1), newest] },
        { minedNonce: 5, pooledNonce: 5, baseFee: 1n },
      ),
    ).toEqual({
      do: "send",
      attempt: newest,
    });
  });

  const cancelling = { ...attempt(1, 1), hash: hash(3), cancels: true };
  test.each([
    { name: "in time", openFor: ttl - 1, step: "wait" },
    { name: "waited too long", openFor: ttl, step: "cancel" },
    { name: "waited too long, with a higher nonce", openFor: ttl, nonce: 6, step: "cancel" },
    { name: "waited too long, with a used nonce", openFor: ttl, nonce: 4, minedNonce: 9, step: "wait" },
    { name: "waited too long, already cancelled", openFor: ttl, attempts: [cancelling], step: "wait" },
    { name: "a filler", kind: "filler" as const, openFor: ttl, step: "wait" },
    { name: "stopped, and sent", stopped: true, step: "cancel" },
    { name: "stopped before it was sent", stopped: true, attempts: [attempt(null, 1)], step: "cancel" },
    {
      name: "stopped before it was sent, already cancelled",
      stopped: true,
      attempts: [attempt(null, 1), { ...cancelling, sentAgo: null }],
      step: "send",
    },
  ])(
    "a purchase that is no longer wanted is cancelled: $name: $step",
    ({ step, minedNonce = 5, ...more }) => {
      const transaction = { ...waiting, nonce: 5, attempts: [attempt(1, 1)], ...more };
      expect(stepOf(transaction, { ...node, minedNonce }).do).toBe(step);
    },
  );

  describe("a reorganisation has dropped the block with the call, and a cancelling transfer is signed", () => {
    const [first, raised] = [attempt(null, 40), { ...attempt(null, 20), hash: hash(2) }];
    const dropped = { ...waiting, nonce: 5, attempts: [first, raised, { ...cancelling, sentAgo: null }] };
    const view = { ...node, minedNonce: 5 };
    test("the call's newest form is raised above the transfer", () => {
      expect(stepOf(dropped, view, first.hash)).toEqual({ do: "bump", attempt: raised });
    });
    test("the raised form is then the one that is sent", () => {
      const above = { ...attempt(null, 0), hash: hash(4) };
      const attempts = [...dropped.attempts, above];
      expect(stepOf({ ...dropped, attempts }, view)).toEqual({ do: "send", attempt: above });
    });
    test("it is cancelled again when it is not mined in time or is stopped", () => {
      for (const more of [{ openFor: ttl }, { stopped: true }])
        expect(stepOf({ ...dropped, ...more }, view, first.hash)).toEqual({ do: "cancel", attempt: raised });
    });
    test("the transfer is sent again where it was mined itself", () => {
      expect(stepOf(dropped, view)).toEqual({ do: "send", attempt: dropped.attempts.at(-1) });
    });
  });

  test.each([
    { name: "no holder found", holder: undefined, lost: false },
    { name: "one of ours", holder: { hash: hash(1), depth: 99n }, lost: false },
    {
      name: "one of ours, in upper case",
      holder: { hash: hash(171).toUpperCase(), depth: 99n },
      lost: false,
    },
    { name: "another transaction, too near the head", holder: { hash: hash(9), depth: 9n }, lost: false },
    { name: "another transaction, deep enough", holder: { hash: hash(9), depth: 10n }, lost: true },
  ])("a transaction is lost only when another one holds its nonce: $name", ({ holder, lost }) => {
    expect(isProvenLost([{ hash: hash(1) }, { hash: hash(171) }], holder, 10)).toBe(lost);
  });
});
