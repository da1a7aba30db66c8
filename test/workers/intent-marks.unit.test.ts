/** The mark behind a call says what a transaction is for, and nothing else has it. */
import { concatHex, type Hex, numberToHex } from "viem";
import { describe, expect, test } from "vitest";
import { permitCalldata, permitOfCalldata } from "../../lib/chain/permit.ts";
import { type Intent, markBehind, markUnder, withMark } from "../../workers/ledger/intent-marks.ts";
import { purchaseCalldata, purchaseOfCalldata } from "../../workers/relayer/purchase-calls.ts";

const secret = Buffer.alloc(32, 7);
const address = (n: number) => numberToHex(n, { size: 20 });
const sender = { chainId: 8453, address: address(1) };
const client = address(2);
const intent: Intent = { kind: "purchase", client, key: "order-1" };
const mark = markUnder(secret, sender, intent);
/** An attribution suffix at the end of calldata (ERC-8021). */
const suffix: Hex = concatHex(["0x62617365", "0x04", "0x00", "0x80218021802180218021802180218021"]);

const request = {
  ...{ productId: numberToHex(3, { size: 32 }), coverageAmount: 100_000_000n },
  ...{ asset: numberToHex(4, { size: 32 }), buyer: address(5) },
};
const parties = { owner: address(5), spender: address(6) };
const permits = [65, 64, 130].map((size) => ({
  ...{ value: 1n, deadline: 2n },
  signature:
    size === 65
      ? concatHex([numberToHex(8, { size: 32 }), numberToHex(9, { size: 32 }), "0x1b"])
      : numberToHex(8, { size }),
}));

test("each part of what it is for makes another mark", () => {
  const others: [typeof sender, Intent][] = [
    [{ ...sender, chainId: 84532 }, intent],
    [{ ...sender, address: address(9) }, intent],
    [sender, { ...intent, kind: "permit" }],
    [sender, { kind: "purchase", client: address(3), key: "order-1" }],
    [sender, { kind: "purchase", client, key: "order-2" }],
    [sender, { kind: "purchase", client, key: `order-1","${client}` }],
    [sender, { kind: "purchase", id: client }],
  ];
  const marks = others.map(([from, of]) => markUnder(secret, from, of));
  const elsewhere = markUnder(Buffer.alloc(32, 8), sender, intent);
  expect(new Set([mark, elsewhere, ...marks]).size).toBe(others.length + 2);
});

describe.each([
  ["nothing", "0x"],
  ["an attribution", suffix],
] as const)("with %s behind it", (_what, after) => {
  test("it is read from a purchase's calldata", () => {
    const call = purchaseCalldata(request);
    const data = concatHex([withMark(call, mark), after]);
    expect(purchaseOfCalldata(data)).toEqual(request);
    expect(markBehind(call, data)).toBe(mark);
  });

  test.each(permits)("it is read from a permit's calldata", (permit) => {
    const call = permitCalldata(parties, permit);
    const data = concatHex([withMark(call, mark), after]);
    expect(permitOfCalldata(parties.spender, data)).toEqual({ owner: parties.owner, call });
    expect(markBehind(call, data)).toBe(mark);
    expect(permitOfCalldata(address(7), data)).toBeUndefined();
  });
});

test("a call without one has none", () => {
  const call = purchaseCalldata(request);
  expect(markBehind(call, call)).toBeUndefined();
  expect(markBehind(call, concatHex([call, "0x1234"]))).toBeUndefined();
  expect(markBehind(call, purchaseCalldata({ ...request, coverageAmount: 1n }))).toBeUndefined();
});
