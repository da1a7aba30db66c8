/** The operator's only write: stopping. What this proves: a stop holds at once, and nothing but the command line lifts it. */
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { type Connection, connect } from "../../lib/db/connect.ts";
import { runLedger } from "../scripts/support/ledger-command.ts";
import { atEnd } from "../support/cleanup.ts";
import { newBuyer } from "../support/ledger.ts";
import { admin, failure, invalidFields, issueKey, newWallet, startApi, type TestApi } from "./support/api.ts";
import { createKeyHolder } from "./support/buyer.ts";

let api: TestApi;
let connection: Connection;
beforeAll(async () => {
  api = await startApi({ services: ["api", "writer"], chainOptions: { blockTime: 1, mixedMining: true } });
  connection = connect(api.stack.databaseUrl, { name: "test" });
  atEnd(connection.close);
});

const STOPS = "/api/v1/admin/stops";
const stop = (body: unknown) => api.request(STOPS, { headers: admin, body });
const stopsInForce = (query = "") => api.request(`${STOPS}${query}`, { headers: admin });

const inForce = z.looseObject({
  scope: z.string(),
  reason: z.string(),
  since: z.string(),
  resume: z.string(),
});

/** Runs the command that an answer gives, as an operator who copies it. */
async function resume(command: string): Promise<void> {
  const [npm, run, ledger, dashes, ...args] = command.split(" ");
  expect([npm, run, ledger, dashes]).toEqual(["npm", "run", "ledger", "--"]);
  const { code, said } = await runLedger(api.stack.databaseUrl, args);
  expect(code, said).toBe(0);
}

/** A buyer with its key's id. */
async function newKeyHolder() {
  const account = await newBuyer(api.chain);
  const holder = await createKeyHolder(api, account);
  const me = await api.request("/api/v1/auth/me", { headers: holder.headers });
  const { keyId } = z.object({ keyId: z.number() }).parse(me.json);
  return { ...holder, keyId, wallet: account.address };
}

describe.each(["global", "wallet", "key"] as const)("a stop of scope %s", (scope) => {
  test("refuses the next purchase, and is lifted by the command that its answer gives", async () => {
    const { keyId, wallet, buy } = await newKeyHolder();
    expect((await buy({}, { "idempotency-key": "before" })).status).toBe(201);
    const target = { ...(scope === "wallet" && { wallet }), ...(scope === "key" && { keyId }) };

    const first = await stop({ scope, ...target, reason: " an incident " });
    expect([first.status, first.json]).toEqual([
      201,
      {
        ok: true,
        alreadyStopped: false,
        scope,
        wallet: null,
        keyId: null,
        ...target,
        reason: "an incident",
        since: expect.any(String),
        setBy: "api",
        resume: expect.stringMatching(new RegExp(`^npm run ledger -- resume ${scope}`)),
        warning: null,
      },
    ]);
    expect(failure(await buy({}, { "idempotency-key": "during" }))).toEqual([503, "purchases_stopped"]);

    const again = await stop({ scope, ...target, reason: "another" });
    expect([again.status, again.json]).toEqual([200, { ...inForce.parse(first.json), alreadyStopped: true }]);
    const { ok: _, alreadyStopped: __, warning: ___, ...listed } = inForce.parse(first.json);
    expect((await stopsInForce()).json).toEqual({ count: 1, limit: 50, nextCursor: null, stops: [listed] });

    await resume(listed.resume);
    expect((await stopsInForce()).json).toMatchObject({ count: 0, stops: [] });
    expect((await buy({}, { "idempotency-key": "during" })).status).toBe(201);
  });
});

test("the keeper's stop leaves purchases alone", async () => {
  const { buy } = await newKeyHolder();
  const answer = await stop({ scope: "keeper", reason: "a wrong price feed" });
  expect(answer.json).toMatchObject({ scope: "keeper", resume: "npm run ledger -- resume keeper" });
  expect((await buy()).status).toBe(201);
  await resume("npm run ledger -- resume keeper");
});

test("of ten operators who stop at once one sets the stop, and all see the same", async () => {
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, n) => stop({ scope: "global", reason: `operator ${n}` })),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array(9).fill(200), 201]);
  expect(new Set(answers.map(({ json }) => inForce.parse(json).reason)).size).toBe(1);
  await resume("npm run ledger -- resume global");
});

test("the command line sees a stop of the api, and the api one of the command line", async () => {
  const { database, keyId, wallet } = { database: api.stack.databaseUrl, ...(await newKeyHolder()) };
  await runLedger(database, ["stop", "wallet", wallet, "--reason", "by command"]);
  expect((await stop({ scope: "wallet", wallet, reason: "by call" })).json).toMatchObject({
    alreadyStopped: true,
    reason: "by command",
    setBy: "command line",
  });
  await stop({ scope: "key", keyId, reason: "leaked" });
  expect((await runLedger(database)).said).toMatch(new RegExp(`key ${keyId} .*leaked`));
  for (const target of [`wallet ${wallet}`, `key ${keyId}`])
    await resume(`npm run ledger -- resume ${target}`);
});

test("a stop of an unknown wallet holds, with a warning; one of an unknown key is 404", async () => {
  const wallet = newWallet();
  const answer = await stop({ scope: "wallet", wallet: wallet.toLowerCase(), reason: "in advance" });
  expect([answer.status, answer.json]).toEqual([
    201,
    expect.objectContaining({ wallet, warning: expect.stringContaining("no API key") }),
  ]);
  await resume(`npm run ledger -- resume wallet ${wallet}`);
  expect(failure(await stop({ scope: "key", keyId: 999_999, reason: "typo" }))).toEqual([
    404,
    "key_not_found",
  ]);
  expect((await stopsInForce()).json).toMatchObject({ stops: [] });
});

test.each<[unknown, string[]]>([
  [{}, ["reason", "scope"]],
  [{ scope: "everything", reason: "x" }, ["scope"]],
  [{ scope: "global" }, ["reason"]],
  [{ scope: "global", reason: " " }, ["reason"]],
  [{ scope: "global", reason: "two\nlines" }, ["reason"]],
  [{ scope: "global", reason: "x".repeat(201) }, ["reason"]],
  [{ scope: "wallet", reason: "x" }, ["wallet"]],
  [{ scope: "wallet", wallet: "0x12", reason: "x" }, ["wallet"]],
  [{ scope: "wallet", wallet: newWallet(), keyId: 1, reason: "x" }, ["keyId"]],
  [{ scope: "key", reason: "x" }, ["keyId"]],
  [{ scope: "key", keyId: 0, reason: "x" }, ["keyId"]],
  [{ scope: "keeper", wallet: newWallet(), keyId: 1, reason: "x" }, ["keyId", "wallet"]],
])("the body %j gets 400 with the fields %j, and stops nothing", async (body, fields) => {
  const answer = await stop(body);
  expect(failure(answer)).toEqual([400, "validation_error"]);
  expect(invalidFields(answer)).toEqual(fields);
  expect((await stopsInForce()).json).toMatchObject({ stops: [] });
});

test("no method of the address lifts a stop", async () => {
  await stop({ scope: "keeper", reason: "test" });
  for (const method of ["DELETE", "PUT", "PATCH"]) {
    expect(failure(await api.request(STOPS, { method, headers: admin }))).toEqual([
      405,
      "method_not_allowed",
    ]);
  }
  expect((await stopsInForce()).json).toMatchObject({ count: 1 });
  await resume("npm run ledger -- resume keeper");
});

test("pages have every stop once, in the order of their scopes", async () => {
  const { keyId } = await issueKey(api.request);
  const targets = [
    { scope: "key", keyId },
    { scope: "wallet", wallet: newWallet() },
    { scope: "wallet", wallet: newWallet() },
    { scope: "keeper" },
    { scope: "global" },
  ];
  for (const target of targets) await stop({ ...target, reason: "test" });
  const seen: string[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const answer = await stopsInForce(`?limit=2${cursor && `&cursor=${cursor}`}`);
    const page = z.object({ nextCursor: z.string().nullable(), stops: z.array(inForce) }).parse(answer.json);
    seen.push(...page.stops.map((one) => one.resume));
    cursor = page.nextCursor;
  }
  expect(new Set(seen).size).toBe(5);
  const { said } = await runLedger(api.stack.databaseUrl);
  const printed = [...said.matchAll(/^ {2}(global|keeper|wallet 0x\w+|key \d+) +\d{4}-/gm)].map(
    ([, target]) => `npm run ledger -- resume ${target}`,
  );
  expect(seen).toEqual(printed);
  for (const command of seen) await resume(command);
});
