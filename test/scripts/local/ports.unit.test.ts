/** Ports for the servers of test runs and dev stacks; these tests reserve them in folders of their own. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, test } from "vitest";
import { freePort } from "../../../scripts/local/ports.ts";

/** A part of a lane that no worker of a run draws from. */
const LANE = { lane: 7, first: 30_500, size: 100 } as const;
const newFolder = () => mkdtempSync(join(inject("runFolder"), "ports-"));

test("each port of a lane is drawn once, and then none", async () => {
  const own = { ...LANE, folder: newFolder() };
  const drawn: number[] = [];
  async function drawAll(): Promise<never> {
    for (;;) drawn.push(await freePort(own));
  }
  await expect(drawAll()).rejects.toThrow("no port from 30500 to 30599 is free");
  expect(new Set(drawn).size).toBe(drawn.length);
  // Somebody else may listen on a few.
  expect(drawn.length).toBeGreaterThan(LANE.size - 50);
});

test("a port of another process is not drawn while it runs, and is once it has ended", async () => {
  const own = { ...LANE, folder: newFolder() };
  // No process has the first id: the largest of Linux is 4,194,304.
  const ownerOf = (port: number) => (port < LANE.first + 50 ? 9_999_999 : process.ppid);
  for (let port = LANE.first; port < LANE.first + LANE.size; port += 1)
    writeFileSync(join(own.folder, String(port)), String(ownerOf(port)));
  for (let n = 0; n < 20; n += 1) expect(await freePort(own)).toBeLessThan(LANE.first + 50);
});
