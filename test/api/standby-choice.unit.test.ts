/** When reads of the index go to the standby. */
import { expect, test } from "vitest";
import type { AsOf } from "../../api/chain/block.ts";
import {
  type Found,
  type LastKnown,
  reasonAgainst,
  reasonWithoutPrimary,
} from "../../api/indexed/standby.ts";

const head = (number: number, fork = 0): AsOf => ({
  source: "index",
  number: BigInt(number),
  hash: `0x${fork}${String(number).padStart(63, "0")}`,
  timestamp: BigInt(number),
});

const standbyAt = (number: number, fork?: number): Found => ({
  ...{ database: "7/1", isStandby: true, head: head(number, fork) },
});
const primaryAt = (number: number): Found => ({ ...standbyAt(number), isStandby: false });

type Reasons = { readonly used: string | undefined; readonly unused: string | undefined };
const both = (reason: string | undefined): Reasons => ({ used: reason, unused: reason });

test.each<[string, Found, Found, Reasons]>([
  ["level with the primary", standbyAt(9), primaryAt(9), both(undefined)],
  ["one block behind", standbyAt(8), primaryAt(9), { used: undefined, unused: "1 blocks behind" }],
  ["two blocks behind", standbyAt(7), primaryAt(9), { used: undefined, unused: "2 blocks behind" }],
  ["three blocks behind", standbyAt(6), primaryAt(9), both("3 blocks behind")],
  ["on another fork", standbyAt(9, 1), primaryAt(9), { used: undefined, unused: "another block" }],
  ["on a longer fork", standbyAt(10, 1), primaryAt(9), { used: undefined, unused: "another block" }],
  ["without a block", { ...standbyAt(9), head: undefined }, primaryAt(9), both("no block")],
  [
    "beside an index that catches up",
    standbyAt(9),
    { ...primaryAt(9), head: undefined },
    both("catching up"),
  ],
  ["of another database", { ...standbyAt(9), database: "7/2" }, primaryAt(9), both("no copy")],
  ["that was promoted", primaryAt(9), primaryAt(9), both("no standby")],
])("a standby %s", (_, standby, primary, expected) => {
  for (const [isUsed, reason] of [
    [true, expected.used],
    [false, expected.unused],
  ] as const) {
    const found = reasonAgainst(standby, primary, { isUsed });
    if (reason === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(reason);
  }
});

const known: LastKnown = { database: "7/1", newest: head(9), tookBack: false };
test.each<[string, Found, LastKnown, string | undefined]>([
  ["with the newest block", standbyAt(9), known, undefined],
  ["with a higher block", standbyAt(10), known, undefined],
  ["that was promoted", primaryAt(9), known, undefined],
  ["before the first answer", standbyAt(9), { ...known, newest: undefined }, undefined],
  ["that lacks an answered block", standbyAt(8), known, "lacks a block"],
  ["with the block of another fork", standbyAt(9, 1), known, "lacks a block"],
  [
    "with a higher block of the fork that the index left",
    standbyAt(10),
    { ...known, tookBack: true },
    "lacks",
  ],
  ["that followed the index to a lower block", standbyAt(9), { ...known, tookBack: true }, undefined],
  ["without a block", { ...standbyAt(9), head: undefined }, known, "no block"],
  ["of another database", { ...standbyAt(9), database: "7/2" }, known, "no copy"],
  ["of a primary that was never seen", standbyAt(9), { ...known, database: undefined }, "never seen"],
])("while the primary is away, a standby %s", (_, standby, lastKnown, expected) => {
  const found = reasonWithoutPrimary(standby, lastKnown);
  if (expected === undefined) expect(found).toBeUndefined();
  else expect(found).toContain(expected);
});
