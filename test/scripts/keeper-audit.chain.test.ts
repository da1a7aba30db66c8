/** `npm run keeper -- audit`, as an operator runs it. */
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, inject, test } from "vitest";
import { z } from "zod";
import { startChain, type TestChain } from "../support/chain.ts";
import { runCommand } from "../support/command.ts";
import { livePolicies, type PolicyFates } from "../support/policy-fates.ts";
import { tableOf } from "./support/ledger-command.ts";

let chain: TestChain;
let fates: PolicyFates;

beforeAll(async () => {
  chain = await startChain({ retired: false, timestamp: 1_900_000_000n });
  fates = await livePolicies(chain);
});

const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runCommand(["scripts/start.mjs", "keeper", ...args], {
    RPC_URL: chain.url,
    DEPLOYMENT_FILE: chain.deploymentFile,
    ...env,
  });

const iso = (seconds: bigint) => new Date(Number(seconds) * 1000).toISOString();
const downtime = () => `${iso(fates.downtime.from)}..${iso(fates.downtime.to)}`;
const everything = `${iso(0n)}..${iso(10_000_000_000n)}`;

const document = z.object({
  counts: z.record(z.string(), z.unknown()),
  missed: z.array(
    z.object({
      productId: z.string(),
      policyId: z.string(),
      buyer: z.string(),
      coverage: z.string(),
      payout: z.string(),
      firstPayable: z.object({ block: z.string(), timestamp: z.string() }),
      confirmation: z.string(),
    }),
  ),
});

test("tables name what was missed, and the command ends with code 1", async () => {
  const { code, said } = await run(["audit", "--down", downtime()]);
  expect(code, said).toBe(1);
  const counts = tableOf(said, "Policies");
  expect(counts).toMatch(/^ +triggered +1$/m);
  expect(counts).toMatch(/^ +missed +4$/m);
  expect(counts).toMatch(/^ +missed in stated downtime +1$/m);
  expect(counts).toMatch(/^ +never payable: the token had no price +1$/m);
  expect(counts).toMatch(/^ +due now +1$/m);
  const first = fates.payable.get("missed")?.first;
  expect(tableOf(said, "Missed: ")).toMatch(
    new RegExp(
      `FLASHBTC1H-001 +${fates.ids.get("missed")} +${chain.owner.address} +1000.00 +800.00 +${first} `,
    ),
  );
  expect(tableOf(said, "Missed: ")).toContain("confirmed");
  expect(tableOf(said, "Missed while the service was down")).toMatch(
    new RegExp(` ${fates.ids.get("down")} `),
  );
  expect(tableOf(said, "Not payable, for a known reason")).toContain(
    "the buyer is a contract that took no bond",
  );
  expect(tableOf(said, "Due now")).toMatch(new RegExp(` ${fates.ids.get("due")} .* 2 +20`));
  expect(said).not.toMatch(/undefined|Warning/);
});

test("a reset by the keeper's own wallet is told apart by its address", async () => {
  const { said } = await run(["audit", "--keeper", fates.resetBy]);
  expect(tableOf(said, "Missed: ")).toMatch(new RegExp(` ${fates.ids.get("reset")} `));
});

test("what was missed in stated downtime only is no failure", async () => {
  const { code, said } = await run(["audit", "--down", everything]);
  expect(code, said).toBe(0);
  expect(tableOf(said, "Missed: ")).toContain("none");
});

test("--json prints one document, with decimal strings", async () => {
  const { code, said } = await run(["audit", "--json"]);
  expect(code, said).toBe(1);
  const { counts, missed } = document.parse(JSON.parse(said));
  expect(counts).toMatchObject({ triggered: 1, missed: 5, missedWhileDown: 0, refused: 0, open: 2, due: 1 });
  expect(missed[0]).toMatchObject({
    policyId: String(fates.ids.get("missed")),
    coverage: "1000000000",
    payout: "800000000",
    firstPayable: { block: String(fates.payable.get("missed")?.first) },
    confirmation: "confirmed",
  });
});

test("limits by block and by time choose what ended between them", async () => {
  const { last = 0n } = fates.payable.get("missed") ?? {};
  const before = await run(["audit", "--json", "--to", String(last)]);
  expect(before.code, before.said).toBe(0);
  const { timestamp } = await chain.client.getBlock({ blockNumber: last + 1n });
  const until = await run(["audit", "--json", "--to", iso(timestamp)]);
  expect(document.parse(JSON.parse(until.said)).missed).toHaveLength(1);
  const from = await run(["audit", "--json", "--from", iso(timestamp), "--to", String(last + 1n)]);
  expect(document.parse(JSON.parse(from.said)).missed).toHaveLength(1);
  const later = await run(["audit", "--json", "--from", String(last + 2n), "--to", String(last + 2n)]);
  expect({ code: later.code, ...document.parse(JSON.parse(later.said)) }).toMatchObject({
    code: 0,
    missed: [],
  });
});

test.each([
  [["audit", "--to", "999999"], "--to: the newest block is"],
  [["audit", "--from", "9", "--to", "8"], "there is no block in the range"],
  [["audit", "--down", "yesterday"], "--down yesterday: must be two times"],
  [["audit", "--keeper", "me"], "--keeper me: must be an address"],
])("%j ends with code 2 and says why", async (args, text) => {
  const { code, said } = await run(args);
  expect({ code, said }).toEqual({ code: 2, said: expect.stringContaining(text) });
});

test("without variables the chain is that of the dev stack", async () => {
  const data = join(inject("runFolder"), "keeper-dev-stack");
  mkdirSync(join(data, "deployments"), { recursive: true });
  copyFileSync(chain.deploymentFile, join(data, "deployments", "8453.json"));
  const stack = { RPC_URL: "", DEPLOYMENT_FILE: "", DATA_DIR: data, ANVIL_PORT: new URL(chain.url).port };
  const { code, said } = await run(["audit"], stack);
  expect(code, said).toBe(1);
  const away = await run(["audit"], { ...stack, DATA_DIR: join(data, "none") });
  expect(away).toEqual({ code: 2, said: expect.stringContaining("8453.json") });
});

test("a chain that is not there, or is another one, ends with code 2", async () => {
  const away = await run(["audit"], { RPC_URL: "http://127.0.0.1:9" });
  expect(away.code, away.said).toBe(2);
  const half = await run(["audit"], { DEPLOYMENT_FILE: "" });
  expect(half).toEqual({
    code: 2,
    said: expect.stringContaining("DEPLOYMENT_FILE is required with RPC_URL"),
  });
  const missing = await run(["audit"], { DEPLOYMENT_FILE: "no-such-file.json" });
  expect(missing).toEqual({ code: 2, said: expect.stringContaining("no-such-file.json") });
});
