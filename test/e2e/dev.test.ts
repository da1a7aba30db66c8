/** `npm run dev`, besides what the end of docs.test.ts proves on a stack that is in use. */
import { createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { waitFor } from "../../scripts/local/wait.ts";
import { atEnd } from "../support/cleanup.ts";
import { devChildren, devLeftovers, devSettings, startDev } from "../support/dev-stack.ts";

describe("npm run dev", () => {
  test("Ctrl-C while it comes up leaves nothing behind either", async () => {
    const settings = await devSettings();
    const run = startDev(settings);
    await waitFor({
      what: "the first processes",
      probe: () => devChildren(settings).length > 0 || undefined,
    });
    run.signal("SIGINT");
    expect((await run.exited).code).toBe(0);
    expect(await devLeftovers(settings)).toEqual([]);
  });

  test("names every port that is taken, and the variable that moves it", async () => {
    const settings = await devSettings();
    const occupied = createServer();
    await new Promise<void>((resolve) =>
      occupied.listen(Number(settings.env.ANVIL_PORT), "127.0.0.1", () => resolve()),
    );
    atEnd(() => new Promise((resolve) => occupied.close(() => resolve())));
    const run = startDev(settings, [], { PONDER_PORT: settings.env.PORT ?? "" });
    expect((await run.exited).code).toBe(1);
    expect(run.output()).toMatch(new RegExp(`ANVIL_PORT ${settings.env.ANVIL_PORT} is taken`));
    expect(run.output()).toMatch(/PONDER_PORT and PORT are both/);
  });

  test("an argument is answered with what it has", async () => {
    const run = startDev(await devSettings(), ["--fork", "http://127.0.0.1:1"]);
    expect((await run.exited).code).toBe(1);
    expect(run.output()).toMatch(/npm run dev has no arguments, not --fork/);
  });
});
