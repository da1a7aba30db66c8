/** The command line of `npm run keeper`. */
import { expect, test } from "vitest";
import { keeperConfig } from "../../lib/config.ts";
import { parseKeeperArguments } from "../../scripts/keeper/arguments.ts";
import { UsageError } from "../../scripts/usage-error.ts";

const seconds = (iso: string) => BigInt(Date.parse(iso) / 1000);
const parse = (...args: string[]) => parseKeeperArguments(["audit", ...args]);

test("without options the audit has no limits and no downtime", () => {
  expect(parse()).toEqual({
    do: "audit",
    from: undefined,
    to: undefined,
    downtime: [],
    wallets: [],
    json: false,
  });
  expect(parseKeeperArguments(["--help"])).toEqual({ do: "help" });
});

test("a limit is a block, a day, or a time with Z or an offset, with or without seconds", () => {
  expect(parse("--from", "0", "--to", "123456789")).toMatchObject({
    from: { block: 0n },
    to: { block: 123456789n },
  });
  const time = (text: string) => parse("--from", text);
  expect(time("2026-02-28")).toMatchObject({ from: { time: seconds("2026-02-28T00:00:00Z") } });
  expect(time("2026-02-28T10:00:01Z")).toMatchObject({ from: { time: seconds("2026-02-28T10:00:01Z") } });
  expect(time("2026-02-28T10:00+02:00")).toMatchObject({ from: { time: seconds("2026-02-28T08:00:00Z") } });
});

test("downtimes are two times each, and there may be several", () => {
  expect(
    parse("--json", "--down", "2026-01-01T10:00Z..2026-01-01T11:00Z", "--down", "2026-01-03..2026-01-04"),
  ).toEqual({
    do: "audit",
    from: undefined,
    to: undefined,
    downtime: [
      { from: seconds("2026-01-01T10:00:00Z"), to: seconds("2026-01-01T11:00:00Z") },
      { from: seconds("2026-01-03T00:00:00Z"), to: seconds("2026-01-04T00:00:00Z") },
    ],
    wallets: [],
    json: true,
  });
});

test.each([
  [[], "nothing: unknown command"],
  [["watch"], "watch: unknown command"],
  [["audit", "now"], "unexpected argument now"],
  [["audit", "--since", "1"], "--since"],
  [["audit", "--from"], "--from"],
  [["audit", "--from", "-1"], "--from"],
  [["audit", "--from", "0x10"], "--from 0x10: must be the number of a block, or a time"],
  [["audit", "--from", "2026-02-30"], "--from 2026-02-30: must be the number of a block, or a time"],
  [["audit", "--to", "2026-01-01T10:00:00"], "--to 2026-01-01T10:00:00: must be"],
  [["audit", "--down", "2026-01-01"], "--down 2026-01-01: must be two times"],
  [["audit", "--down", "2026-01-01..2026-01-02..2026-01-03"], "must be two times"],
  [["audit", "--down", "100..200"], "must be two times"],
  [["audit", "--down", "2026-01-02..2026-01-01"], "ends before it begins"],
])("%j is refused: %s", (args, text) => {
  expect(() => parseKeeperArguments(args)).toThrow(UsageError);
  expect(() => parseKeeperArguments(args)).toThrow(text);
});

test("the chain is given by both variables or by none; without them it is the dev stack's", () => {
  const chain = { RPC_URL: "http://127.0.0.1:1", DEPLOYMENT_FILE: "chain.json" };
  expect(keeperConfig(chain)).toMatchObject(chain);
  expect(keeperConfig({ RPC_URL: "", DEPLOYMENT_FILE: "" })).toEqual({ ANVIL_PORT: 8545, DATA_DIR: ".data" });
  expect(() => keeperConfig({ RPC_URL: chain.RPC_URL })).toThrow("DEPLOYMENT_FILE is required with RPC_URL");
  expect(() => keeperConfig({ DEPLOYMENT_FILE: "chain.json" })).toThrow(
    "RPC_URL is required with DEPLOYMENT_FILE",
  );
});
