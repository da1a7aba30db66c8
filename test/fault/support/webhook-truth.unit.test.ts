/** The fault tests are worth what their judge is worth: each wrong that a subscriber can be done is found. */
import { expect, test } from "vitest";
import { hang, ok, type Received, type Reply } from "../../support/receiver.ts";
import { disorderOf, faultsOf, type Subscriber, type TrueEvent } from "./webhook-truth.ts";

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
const told = (event: TrueEvent, id: string, reply: Reply = ok): Received => {
  const { type, blockHash, txHash, blockNumber, ref } = event;
  const data = { listingId: ref };
  return request(id, { type, blockHash, txHash, blockNumber: String(blockNumber), data }, reply);
};
const takenBack = (eventId: string): Received =>
  request(`reverted-${eventId}`, { type: "event_reverted", data: { eventId } });

const subscriber = (...requests: Received[]): Subscriber => ({
  ...{ wallet, events: ["*"], fromBlock: 5n, requests },
});
const [one, two] = [listed(1, 6), listed(2, 7)];
const truth = [listed(9, 5), one, two, listed(3, 8, ["0xsomebody"])];

test.each([
  { name: "all is told once", requests: [told(one, "a"), told(two, "b")], faults: [] },
  { name: "a duplicate", requests: [told(one, "a"), told(one, "a"), told(two, "b")], faults: [] },
  {
    name: "a phantom that was taken back",
    requests: [told(one, "a"), told(listed(4, 7), "x"), takenBack("x"), told(two, "b")],
    faults: [],
  },
  {
    name: "an event that was taken back, and came back under another id",
    requests: [told(one, "a"), takenBack("a"), told(one, "c"), told(two, "b")],
    faults: [],
  },
  { name: "a loss", requests: [told(two, "b")], faults: [/^missing: listing_created 1 /] },
  {
    name: "an attempt that was not answered",
    requests: [told(one, "a", hang), told(two, "b")],
    faults: [/^missing/],
  },
  {
    name: "a phantom",
    requests: [told(one, "a"), told(two, "b"), told(listed(4, 7), "x")],
    faults: [/^not on the chain: listing_created 4/],
  },
  {
    name: "somebody else's event",
    requests: [told(one, "a"), told(two, "b"), told(listed(3, 8), "x")],
    faults: [/^not on the chain/],
  },
  {
    name: "one from before the subscription",
    requests: [told(listed(9, 5), "x"), told(one, "a"), told(two, "b")],
    faults: [/^not on the chain/],
  },
  { name: "two ids", requests: [told(one, "a"), told(one, "c"), told(two, "b")], faults: [/^told as two/] },
  {
    name: "two bodies",
    requests: [told(one, "a"), told(two, "b"), { ...told(two, "a"), id: "a" }],
    faults: [/two bodies/],
  },
  {
    name: "a reversal of what stands",
    requests: [told(one, "a"), told(two, "b"), takenBack("b")],
    faults: [/^taken back though it stands/],
  },
  {
    name: "told again after its reversal",
    requests: [
      told(one, "a"),
      told(two, "b"),
      told(listed(4, 7), "x"),
      takenBack("x"),
      told(listed(4, 7), "x"),
    ],
    faults: [/told again after it was taken back/],
  },
])("$name", ({ requests, faults }) => {
  const found = faultsOf(truth, subscriber(...requests));
  for (const fault of faults) expect(found).toContainEqual(expect.stringMatching(fault));
  expect(found.length > 0).toBe(faults.length > 0);
});

test("order is that of the chain, and begins anew with what was taken back", () => {
  const order = (...requests: Received[]) => disorderOf(subscriber(...requests), truth).length;
  expect(order(told(one, "a"), told(two, "b"))).toBe(0);
  expect(order(told(two, "b"), told(one, "a"))).toBe(1);
  expect(order(told(one, "a"), told(two, "b"), told(one, "a"))).toBe(0);
  expect(order(told(two, "b"), takenBack("b"), told(one, "a"))).toBe(0);
});
