import { beforeAll, expect, test } from "vitest";
import { parseLedgerArguments } from "../../scripts/ledger/arguments.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { newBuyer, openLedger, purchaseRequest, type TestLedger } from "../support/ledger.ts";
import { type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { runLedger, tableOf } from "./support/ledger-command.ts";

let chain: TestChain;
let rpc: RpcProxy;
let stack: Stack;
let ledger: TestLedger;

beforeAll(async () => {
  chain = await startChain({ blockTime: 1, mixedMining: true });
  rpc = await startRpcProxy(chain.url);
  stack = await startStack({ chain, services: ["writer"], rpcUrl: rpc.url });
  ledger = await openLedger(chain, { databaseUrl: stack.databaseUrl });
});

const run = (args: readonly string[]) => runLedger(stack.databaseUrl, args);

test("the overview lists entries in flight, waiting and stuck, and later the spending", async () => {
  const buyer = await newBuyer(chain);
  rpc.intercept((call, forward) =>
    call.method === "eth_sendRawTransaction"
      ? Promise.resolve({ error: { code: -32000, message: "the pool is full" } })
      : forward(),
  );
  const inFlight = await ledger.buy(purchaseRequest(buyer.address), "inFlight");
  await ledger.inState(inFlight, "signed");
  rpc.intercept(async () => "lost");
  const waiting = await ledger.buy(purchaseRequest(buyer.address), "waiting");

  const { code, said } = await run(["--older", "0"]);
  expect(code).toBe(0);
  expect(said).not.toContain("undefined");
  expect(tableOf(said, "Wallets")).toMatch(new RegExp(`${chain.relayer.address}\\s+1\\s+0\\s+1\\s`));
  expect(tableOf(said, "In flight")).toMatch(new RegExp(` 0 +signed .* ${inFlight}`));
  expect(tableOf(said, "Accepted and not signed")).toContain(waiting);
  expect(tableOf(said, "Stuck: in flight")).toContain(inFlight);
  expect(tableOf(said, "Stuck: not signed")).toContain(waiting);
  expect(tableOf(said, "Nonces that the ledger lacks")).toContain("none");
  const later = await run([]);
  expect(tableOf(later.said, "Stuck: in flight")).toContain("none");
  expect(tableOf(later.said, "Stuck: not signed")).toContain("none");

  const shown = await run(["show", inFlight.toUpperCase()]);
  const { purchase, attempts } = await rowsOf(inFlight);
  expect(shown.code).toBe(0);
  expect(shown.said).toMatch(/idempotency_key +inFlight/);
  expect(shown.said).toContain(`Transaction with nonce 0 from ${chain.relayer.address.toLowerCase()}: open`);
  expect(shown.said).toContain(purchase);
  for (const hash of attempts) expect(shown.said).toContain(hash);
  expect((await run(["show", waiting])).said).toContain("No transaction of it was ever signed.");

  rpc.intercept();
  await ledger.settled(inFlight);
  await ledger.settled(waiting);
  const after = await waitFor({
    what: "the gas cost in the ledger",
    probe: async () => {
      const { said: now } = await run([]);
      return tableOf(now, "Spent on transactions signed since midnight UTC, by key").includes(buyer.address)
        ? now
        : undefined;
    },
  });
  expect(tableOf(after, "In flight")).toContain("none");
  expect(tableOf(after, "Spent on transactions signed since midnight UTC, by wallet")).toMatch(
    / 2 +0\.00\d*[1-9]\d* +0\.000000$/m,
  );
  const { premiums } = await rowsOf(inFlight);
  expect(tableOf(after, "Spent on transactions signed since midnight UTC, by key")).toContain(
    (Number(premiums) / 1e6).toFixed(2),
  );
});

/** The purchase's hash, the hashes of its attempts, and the sum of its buyer's premiums. */
async function rowsOf(id: string) {
  const { sql } = ledger.connection;
  const hashes = await sql<{ hash: string }[]>`
    select a.hash from service.attempt a join service.transaction t on t.id = a.transaction_id where t.intent = ${id}`;
  const [row] = await sql<{ purchase: string; premiums: string }[]>`
    select tx_hash as purchase, (select sum(premium_paid) from service.purchase_progress o where o.buyer = p.buyer) as premiums
    from service.purchase_progress p where id = ${id}`;
  if (!row) throw new Error(`no purchase ${id}`);
  return { ...row, attempts: hashes.map(({ hash }) => hash) };
}

test("the overview lists nonce gaps", async () => {
  const { sql } = ledger.connection;
  const wallet = `0x${"ab".repeat(20)}`;
  await sql`insert into service.relayer_wallet (chain_id, address, next_nonce) values (1, ${wallet}, 9)`;
  for (const [nonce, lostTo] of [
    [4, `0x${"4".repeat(64)}`],
    [6, null],
    [8, null],
  ] as const) {
    await sql`
      insert into service.transaction (chain_id, wallet, nonce, kind, "to", data, gas_limit, lost_to)
      values (1, ${wallet}, ${nonce}, 'filler', ${wallet}, '0x', 21000, ${lostTo})`;
  }
  const { said } = await run([]);
  const gaps = [...tableOf(said, "Nonces that the ledger lacks").matchAll(/0x[abAB]{40} +(\d+)$/gm)].map(
    (gap) => gap[1],
  );
  expect(gaps).toEqual(["4", "5", "7"]);
});

test("stops are set, replaced, listed and lifted; unknown targets are reported", async () => {
  const buyer = await newBuyer(chain);
  const [key] = await ledger.connection.sql<{ id: string }[]>`
    insert into service.api_key (key_hash, wallet, tier) values ('h', ${buyer.address.toLowerCase()}, 'free') returning id`;
  const stops = () =>
    ledger.connection.sql`select scope, subject, reason from service.stop order by scope, reason`;

  expect((await run(["stop", "global", "--reason", "first"])).code).toBe(0);
  expect((await run(["stop", "global", "--reason", "an incident"])).code).toBe(0);
  const [wallet, leaked, unknown] = await Promise.all([
    run(["stop", "wallet", buyer.address, "--reason", "abuse"]),
    run(["stop", "key", `${key?.id}`, "--reason", "leaked"]),
    run(["stop", "wallet", `0x${"cd".repeat(20)}`, "--reason", "in advance"]),
  ]);
  expect(wallet.said).not.toContain("No writer");
  expect(leaked.code).toBe(0);
  expect(unknown).toMatchObject({
    code: 0,
    said: expect.stringContaining("No writer sends from this wallet yet"),
  });
  expect(await stops()).toEqual([
    { scope: "global", subject: "", reason: "an incident" },
    { scope: "key", subject: key?.id, reason: "leaked" },
    { scope: "wallet", subject: buyer.address.toLowerCase(), reason: "abuse" },
    { scope: "wallet", subject: `0x${"cd".repeat(20)}`, reason: "in advance" },
  ]);
  const listed = tableOf((await run([])).said, "Stops in force");
  expect(listed).toMatch(/global .*an incident/);
  expect(listed).toMatch(new RegExp(`wallet ${buyer.address} .*abuse`));
  expect(listed).toMatch(new RegExp(`key ${key?.id} .*leaked`));

  expect(await run(["stop", "key", "999999", "--reason", "typo"])).toMatchObject({
    code: 1,
    said: expect.stringContaining("There is no key 999999."),
  });
  const targets = [
    ["global"],
    ["wallet", buyer.address.toLowerCase()],
    ["wallet", `0x${"CD".repeat(20)}`],
    ["key", `${key?.id}`],
  ];
  const resumed = await Promise.all(targets.map((target) => run(["resume", ...target])));
  expect(resumed.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
  expect(await run(["resume", "global"])).toMatchObject({
    code: 1,
    said: expect.stringContaining("global was not stopped"),
  });
  expect(await stops()).toEqual([]);
});

test("reconcile accepts any number of hashes, each once", () => {
  const [one, two] = [`0x${"ab".repeat(32)}`, `0x${"12".repeat(32)}`];
  const upper = `0x${"AB".repeat(32)}`;
  const parse = (...hashes: string[]) =>
    parseLedgerArguments(["reconcile", ...hashes.flatMap((hash) => ["--accept", hash])]);
  expect(parse()).toEqual({ do: "reconcile", accept: [] });
  expect(parse(upper, two, one)).toEqual({ do: "reconcile", accept: [one, two] });
  expect(() => parse(one, "0x12", two)).toThrow("--accept 0x12: must be the hash of a transaction");
});

test.each([
  [["frobnicate"], "frobnicate: unknown command"],
  [["stop"], "nothing: must be global, keeper, wallet or key"],
  [["stop", "everything", "--reason", "x"], "everything: must be global, keeper, wallet or key"],
  [["stop", "global"], "stop: needs a --reason"],
  [["stop", "global", "--reason", "  "], "stop: needs a --reason"],
  [["stop", "global", "now", "--reason", "x"], "unexpected argument now after global"],
  [["stop", "wallet", "0x12", "--reason", "x"], "wallet 0x12: must be followed by an address"],
  [["stop", "wallet", `0x${"ab".repeat(20)}`, "more", "--reason", "x"], "unexpected argument more"],
  [["stop", "key", "0x12", "--reason", "x"], "key 0x12: must be followed by the id of a key"],
  [["resume", "global", "--reason", "x"], "--reason: only stop takes it"],
  [["show", "7"], "show 7: must be the id of a purchase"],
  [["--older", "soon"], "--older soon: must be a number of seconds"],
  [["--older", "5", "show", "7"], "--older: show does not take it"],
  [["reconcile", "now"], "unexpected argument now"],
  [["reconcile", "--accept", "0x12"], "--accept 0x12: must be the hash of a transaction"],
  [["--accept", `0x${"12".repeat(32)}`], "--accept: only reconcile takes it"],
  [["give-up"], "give-up : must be followed by an address"],
  [["give-up", "0x12"], "give-up 0x12: must be followed by an address"],
  [["--force"], "--force"],
] as const)("%j is refused: %s", (args, fault) => {
  expect(() => parseLedgerArguments(args)).toThrow(fault);
});

test("an invalid command line or an unknown purchase gives a short message and exit code 1", async () => {
  const nobody = "00000000-0000-0000-0000-000000000000";
  for (const [args, fault] of [
    [["stop", "global"], "stop: needs a --reason"],
    [["show", nobody], `There is no purchase, service transaction or claim ${nobody}.`],
  ] as const) {
    const { code, said } = await run(args);
    expect(said).toContain(fault);
    expect(said).not.toMatch(/\n +at /);
    expect(code).toBe(1);
  }
});

test("the error about an unusable database does not contain its password", async () => {
  const { code, said } = await runLedger("postgres://user:secret@127.0.0.1:9/cover");
  expect(code).toBe(1);
  expect(said).toContain("The ledger in 127.0.0.1:9/cover cannot be used");
  expect(said).not.toContain("secret");
});
