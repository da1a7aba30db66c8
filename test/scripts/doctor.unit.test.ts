/** What the doctor makes of clocks, old servers and sessions that no test can make on this machine. */
import { expect, test } from "vitest";
import { examineChainClock, examineDatabaseClock } from "../../scripts/doctor/clock.ts";
import { examineInfo, fieldsOf } from "../../scripts/doctor/redis.ts";
import { isThisMachine } from "../../scripts/doctor/secrets.ts";
import { sessionsOf } from "../../scripts/doctor/sessions.ts";
import { processNames, readSettings } from "../../scripts/doctor/settings.ts";
import { tableRows } from "../e2e/support/doc-blocks.ts";

test("clocks that differ by two seconds at most are in step", () => {
  expect(examineDatabaseClock(1.9)).toMatchObject({ level: "ok" });
  expect(examineDatabaseClock(-3)).toMatchObject({
    level: "fault",
    text: expect.stringContaining("3 s behind"),
  });
  expect(examineDatabaseClock(300)).toMatchObject({
    level: "fault",
    text: expect.stringContaining("5 min ahead of"),
  });
});

test("a chain's newest block is at most a minute old, unless the chain is local", () => {
  const chain = {
    prefix: "",
    deployment: { chainId: 8453 },
    head: { timestamp: 1000n },
    local: false,
  } as const;
  expect(examineChainClock(chain, 1059)).toMatchObject([{ level: "ok" }]);
  expect(examineChainClock(chain, 1000 - 14)).toMatchObject([{ level: "ok" }]);
  expect(examineChainClock(chain, 1061)).toMatchObject([
    { level: "fault", text: expect.stringContaining("61 s old"), remedy: expect.stringContaining("RPC_URL") },
  ]);
  expect(examineChainClock({ ...chain, local: true }, 9999)).toEqual([]);
});

test("an old Redis is a fault", () => {
  const info = (version: string) =>
    fieldsOf(`# Server\r\nredis_version:${version}\r\nrole:master\r\nmaxmemory_policy:noeviction\r\n`);
  expect(examineInfo(info("6.0.16"))).toMatchObject([
    { level: "fault", remedy: "install Redis 6.2 or newer" },
  ]);
  expect(examineInfo(info("7.0.15"))).toMatchObject([{ level: "ok" }]);
});

test.each([
  ["127.0.0.1", true],
  ["127.5.4.3", true],
  ["[::1]", true],
  ["localhost", true],
  ["127.0.0.1.example.com", false],
  ["10.0.0.1", false],
])("traffic to %s stays on this machine: %s", (host, expected) => {
  expect(isThisMachine(host)).toBe(expected);
});

test("the sessions of each process are those of docs/operating.md", () => {
  const variables = {
    DATABASE_URL: "postgres://user@127.0.0.1/db",
    RPC_URL: "http://127.0.0.1:8545",
    DEPLOYMENT_FILE: "deployment.json",
    RELAYER_PRIVATE_KEYS: `0x${"1".repeat(64)}`,
  };
  const testnet = { TESTNET_RPC_URL: "http://127.0.0.1:8546", TESTNET_DEPLOYMENT_FILE: "testnet.json" };
  const sessions = (more: Readonly<Record<string, string>> = {}) => {
    const env = { ...variables, ...more };
    const { settings } = readSettings(env, processNames);
    return processNames.map((name) => sessionsOf(name, settings));
  };
  const added = (more: Readonly<Record<string, string>>) => {
    const base = sessions();
    return sessions(more).map((count, index) => count - (base[index] ?? 0));
  };
  const rows = new Map(
    tableRows("docs/operating.md", "with a testnet").map(([name = "", ...cells]) => [name, cells]),
  );
  const column = (index: number) =>
    processNames.map((name) => Number((rows.get(name)?.[index] ?? "").replace("+ ", "") || 0));
  expect(sessions()).toEqual(column(0));
  expect(added(testnet)).toEqual(column(1));
  expect(added({ ORACLE_PRIVATE_KEY: `0x${"2".repeat(64)}` })).toEqual(column(2));
  expect(added({ KEEPER_PRIVATE_KEY: `0x${"2".repeat(64)}` })).toEqual(column(3));
  expect(added({ DATABASE_READ_URL: "postgres://user@127.0.0.1:5433/db" })).toEqual(column(4));
});
