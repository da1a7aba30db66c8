/** The fault tests depend on these checks: each possible fault of the deliveries is found. */
import { expect, test } from "vitest";
import { hang, ok, type Received, type Reply } from "../../support/receiver.ts";
import { faultsOf, orderFaultsOf, type Subscriber, type TrueEvent } from "./webhook-truth.ts";

const wallet = "0xAb00000000000000000000000000000000000001";

const listed = (listingId: number, block: number, parties: readonly string[] = [wallet]): TrueEvent => ({
  type: "listing_created",
  ref: String(listingId),
  txHash: `0xt${listingId}`,
  blockHash: `0xb${block}`,
  logIndex: listingId,
  blockNumber: BigInt(block),
  parties: parties.map((party) => party.toLowerCase()),
});

function request(id: string, body: object, reply: Reply = ok): Received {
  const rest = { version: 1, createdAt: "", chainId: 1, blockNumber: "1", blockHash: null, txHash: null };
  return {
    at: 0,
    method: "POST",
    headers: {},
    id,
    reply,
    overAt: 0,
    body: JSON.stringify({ ...rest, id, ...body }),
  };
}
const sent = (event: TrueEvent, id: string, reply: Reply = ok): Received => {
  const { type, blockHash, txHash, blockNumber, ref } = event;
  const data = { listingId: ref };
  return request(id, { type, blockHash, txHash, blockNumber: String(blockNumber), data }, reply);
};
const reversalOf = (eventId: string): Received =>
  request(`reverted-${eventId}`, { type: "event_reverted", data: { eventId } });

const subscriber = (...requests: Received[]): Subscriber => ({
  ...{ wallet, events: ["*"], fromBlock: 5n, requests },
});
const [one, two] = [listed(1, 6), listed(2, 7)];
const truth = [listed(9, 5), one, two, listed(3, 8, ["0xsomebody"])];

const both = [sent(one, "a"), sent(two, "b")];
const phantom = sent(listed(4, 7), "x");

test.each<[name: string, requests: Received[], fault: RegExp | undefined]>([
  ["each event once", both, undefined],
  ["a duplicate", [sent(one, "a"), ...both], undefined],
  ["a reverted event that is not on the chain", [...both, phantom, reversalOf("x")], undefined],
  [
    "a repeated event after its reversal, under another id",
    [...both, reversalOf("b"), sent(two, "c")],
    undefined,
  ],
  ["a missing event", [sent(two, "b")], /^missing: listing_created 1 /],
  ["an unanswered attempt", [sent(one, "a", hang), sent(two, "b")], /^missing/],
  ["an event that is not on the chain", [...both, phantom], /^not on the chain: listing_created 4/],
  ["an event of another wallet", [...both, sent(listed(3, 8), "x")], /^not on the chain/],
  ["an event from before the subscription", [sent(listed(9, 5), "x"), ...both], /^not on the chain/],
  ["two ids", [...both, sent(one, "c")], /^sent under two ids/],
  ["two bodies", [...both, { ...sent(two, "a"), id: "a" }], /two bodies/],
  ["a reversal of an event on the chain", [...both, reversalOf("b")], /^reverted though on the chain/],
  [
    "an event after its reversal",
    [...both, phantom, reversalOf("x"), phantom],
    /sent again after its reversal/,
  ],
])("%s", (_, requests, fault) => {
  const found = faultsOf(truth, subscriber(...requests));
  if (fault) expect(found).toContainEqual(expect.stringMatching(fault));
  else expect(found).toEqual([]);
});

test("events must be in chain order, without the reverted ones", () => {
  const order = (...requests: Received[]) => orderFaultsOf(subscriber(...requests), truth, new Set()).length;
  expect(order(sent(one, "a"), sent(two, "b"))).toBe(0);
  expect(order(sent(two, "b"), sent(one, "a"))).toBe(1);
  expect(order(sent(one, "a"), sent(two, "b"), sent(one, "a"))).toBe(0);
  expect(order(sent(two, "b"), reversalOf("b"), sent(one, "a"))).toBe(0);
});

test("an event that timed out may come after later events; one whose reversal timed out is not compared", () => {
  const order = (timedOut: string, ...requests: Received[]) =>
    orderFaultsOf(subscriber(...requests), truth, new Set([timedOut])).length;
  expect(order("a", sent(two, "b"), sent(one, "a"))).toBe(0);
  expect(order("b", sent(two, "b"), sent(one, "a"))).toBe(0);
  expect(order("c", sent(two, "b"), sent(one, "a"))).toBe(1);
  expect(order("reverted-x", sent(two, "x"), sent(one, "a"), reversalOf("x"))).toBe(0);
});
