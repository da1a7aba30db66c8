import { expect, test } from "vitest";
import { createOutages, type Success } from "./outages.ts";

const read = (block: bigint): Success => ({ what: "read", begun: Date.now(), block });
const bought = (block: bigint): Success => ({ what: "purchase", begun: Date.now(), block });

test("an answer to a request from before the restart is no recovery", async () => {
  const outages = createOutages();
  const begun = Date.now() - 1;
  const over = outages.begin("api").over();
  outages.note({ what: "read", begun, block: 1n });
  expect(outages.durations().size).toBe(0);
  outages.note(read(1n));
  await over;
  expect(outages.durations().get("api")).toHaveLength(1);
});

test("an indexer has recovered once a newer block is read, and a writer once a purchase is in a newer block", async () => {
  const outages = createOutages();
  outages.note(read(5n));
  const both = Promise.all([outages.begin("indexer").over(), outages.begin("writer").over()]);
  for (const success of [read(5n), bought(5n)]) outages.note(success);
  expect(outages.durations().size).toBe(0);
  outages.note(bought(6n));
  expect([...outages.durations().keys()]).toEqual(["writer"]);
  outages.note(read(6n));
  await both;
  expect([...outages.durations().keys()].sort()).toEqual(["indexer", "writer"]);
});

test("an outage excuses what was begun before its end", () => {
  const outages = createOutages();
  expect(outages.hadOneSince(Date.now())).toBe(false);
  outages.begin("node");
  expect(outages.hadOneSince(Date.now())).toBe(true);
  expect(outages.hadOneSince(Date.now(), "api")).toBe(false);
});
