/** When reads of the index go to the standby. */
import { expect, test } from "vitest";
import { type Heads, reasonAgainst } from "../../api/indexed/standby.ts";

test.each<[string, Heads, { used: string | undefined; unused: string | undefined }]>([
  ["level with the primary", { standby: 9n, primary: 9n }, { used: undefined, unused: undefined }],
  [
    "ahead of a primary that was read earlier",
    { standby: 9n, primary: 8n },
    { used: undefined, unused: undefined },
  ],
  ["one block behind", { standby: 8n, primary: 9n }, { used: undefined, unused: "1 blocks behind" }],
  ["two blocks behind", { standby: 7n, primary: 9n }, { used: undefined, unused: "2 blocks behind" }],
  [
    "three blocks behind",
    { standby: 6n, primary: 9n },
    { used: "3 blocks behind", unused: "3 blocks behind" },
  ],
  ["without a block", { standby: undefined, primary: 9n }, { used: "no block", unused: "no block" }],
  [
    "beside an index that catches up",
    { standby: 9n, primary: undefined },
    { used: "catching up", unused: "catching up" },
  ],
  [
    "beside a primary that is away",
    { standby: 9n, primary: "away" },
    { used: undefined, unused: "does not tell" },
  ],
])("a standby %s", (_, heads, expected) => {
  for (const [isUsed, said] of [
    [true, expected.used],
    [false, expected.unused],
  ] as const) {
    const reason = reasonAgainst(heads, isUsed);
    if (said === undefined) expect(reason).toBeUndefined();
    else expect(reason).toContain(said);
  }
});
