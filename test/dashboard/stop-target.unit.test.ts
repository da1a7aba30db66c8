/** What the operator is told before a stop, and which stops are never asked for. */
import { expect, test } from "vitest";
import {
  checkDraft,
  consequencesOf,
  type DraftField,
  type StopDraft,
} from "../../dashboard/pages/operator/stop-target.ts";

const wallet = `0x${"aB".repeat(20)}`;
const draft = { scope: "keeper", wallet: "", keyId: "", reason: "a wrong price feed" } as const;

test.each<[Partial<StopDraft>, DraftField]>([
  [{ scope: undefined }, "scope"],
  [{ reason: "  " }, "reason"],
  [{ scope: "wallet" }, "wallet"],
  [{ scope: "wallet", wallet: "0x12" }, "wallet"],
  [{ scope: "key" }, "keyId"],
  [{ scope: "key", keyId: "0" }, "keyId"],
  [{ scope: "key", keyId: "1.5" }, "keyId"],
  [{ scope: "key", keyId: "1234567890123456" }, "keyId"],
])("the draft %j is not sent: its field %s is named", (change, field) => {
  expect(checkDraft({ ...draft, ...change })).toMatchObject({ ok: false, field });
});

test("a draft has the target of its scope alone, and what was typed beside it is left out", () => {
  const typed = { ...draft, wallet: ` ${wallet} `, keyId: " 12 ", reason: " leaked " };
  expect(checkDraft({ ...typed, scope: "key" })).toEqual({
    ok: true,
    target: { scope: "key", keyId: 12 },
    reason: "leaked",
  });
  expect(checkDraft({ ...typed, scope: "wallet" })).toMatchObject({ target: { scope: "wallet", wallet } });
  expect(checkDraft({ ...typed, scope: "global" })).toMatchObject({ target: { scope: "global" } });
});

const told = (
  target: Parameters<typeof consequencesOf>[0],
  roles: ("relayer" | "faucet" | "sandbox")[] = [],
) =>
  consequencesOf(
    target,
    roles.map((role) => ({ role, wallet: wallet.toLowerCase() })),
  ).join(" ");

test("a wallet of the service is told by its roles, any other wallet as a client's", () => {
  expect(told({ scope: "wallet", wallet }, ["relayer", "faucet", "relayer"])).toMatch(
    /^This relayer sends no purchase\..* The faucet gives nothing\. It holds before/,
  );
  expect(told({ scope: "wallet", wallet })).toContain("This client’s wallet buys nothing");
});

test("every stop says what it stops, what goes on, and from when it holds", () => {
  expect(told({ scope: "global" })).toMatch(/No purchase is accepted.*keeper.*claim.*by themselves/);
  expect(told({ scope: "keeper" })).toMatch(/keeper sends nothing.*Purchases go on/);
  expect(told({ scope: "key", keyId: 1 })).toMatch(/This key buys nothing.*other keys.*not revoked/);
  for (const scope of ["global", "keeper"] as const)
    expect(told({ scope })).toContain("before the next transaction is signed or sent");
});
