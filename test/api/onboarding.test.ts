/** Wallets issue keys to themselves with a signature. */
import postgres from "postgres";
import type { Hex, LocalAccount } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { beforeAll, describe, expect, test } from "vitest";
import { isFresh, onboardingMessage } from "../../api/keys/onboarding.ts";
import { atEnd } from "../support/cleanup.ts";
import { freshDatabase } from "../support/database.ts";
import type { HttpAnswer } from "../support/http.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import { admin, failure, issueKey, messageOf, startApi, type TestApi } from "./support/api.ts";
import { lostKeys } from "./support/lost-keys.ts";
import { keyOf, now, ONBOARD, onboardingBody } from "./support/onboarding.ts";
import {
  type Client,
  clientsOf,
  headerNumber,
  remaining,
  startLimitedApi,
  statuses,
} from "./support/rate-limits.ts";

const newAccount = () => privateKeyToAccount(generatePrivateKey());

let api: TestApi;
let sql: postgres.Sql;
/** Between the database and a second api. */
let proxy: TcpProxy;
let elsewhere: Client;
beforeAll(async () => {
  api = await startApi();
  sql = postgres(api.stack.databaseUrl, { max: 1, onnotice: () => {} });
  atEnd(() => sql.end());
  await issueKey(api.request, newAccount().address); // returns once the tables exist
  proxy = await startTcpProxy(api.stack.databaseUrl);
  const other = await startLimitedApi(api.chain, { ONBOARD_RATE_LIMIT: "1000" }, { databaseUrl: proxy.url });
  elsewhere = (await clientsOf(other))("198.51.100.1");
});

const post = (body: unknown) => api.request(ONBOARD, { body });
const onboard = async (account: LocalAccount, timestamp = now()) =>
  post(await onboardingBody(account, { timestamp }));
const activeKeys = async ({ address }: LocalAccount): Promise<number> => {
  const [row] = await sql`select count(*)::int as keys from service.api_key
    where wallet = ${address.toLowerCase()} and revoked_at is null`;
  return row?.keys;
};
const me = (headers: Record<string, string>) => api.request("/api/v1/auth/me", { headers });

/** Statuses and codes of the responses, sorted. */
const outcomes = (answers: readonly HttpAnswer[]): string[] =>
  answers.map((answer) => (answer.status === 201 ? "201" : failure(answer).join(" "))).sort();
const several = (count: number, outcome: string): string[] => Array<string>(count).fill(outcome);

test("a signature creates a free key, which is neither stored in plain text nor logged", async () => {
  const account = newAccount();
  const answer = await post({ ...(await onboardingBody(account)), label: "bot" });
  expect(answer.status).toBe(201);
  expect(answer.json).toMatchObject({ ok: true, wallet: account.address, tier: "free", label: "bot" });
  expect(answer.headers.get("cache-control")).toBe("no-store");
  const { keyId, headers } = keyOf(answer);
  expect((await me(headers)).json).toMatchObject({ wallet: account.address, tier: "free", keyId });
  expect(JSON.stringify(await sql`select * from service.api_key`)).not.toContain(headers["x-api-key"]);
  expect(api.stack.output("api")).not.toContain(headers["x-api-key"]);
});

test("the signed message can have the address as sent, in lowercase, or checksummed", async () => {
  const account = newAccount();
  const upper = `0x${account.address.slice(2).toUpperCase()}`;
  const spellings = [
    [upper, upper],
    [upper, account.address.toLowerCase()],
    [account.address.toLowerCase(), account.address],
  ] as const;
  for (const [index, [walletAddress, signed]] of spellings.entries()) {
    const timestamp = now() - 50 * index;
    const signature = await account.signMessage({ message: onboardingMessage(signed, timestamp) });
    expect((await post({ walletAddress, signature, timestamp })).status).toBe(201);
  }
});

describe("an invalid body", () => {
  const account = newAccount();
  let good: Awaited<ReturnType<typeof onboardingBody>>;
  beforeAll(async () => {
    good = await onboardingBody(account);
  });
  test.each([
    ["no fields", {}, ["walletAddress", "signature", "timestamp"]],
    ["a list instead of an object", [], ["body"]],
    ["null instead of an object", null, ["body"]],
    ["a short address", { walletAddress: "0x12" }, ["walletAddress"]],
    ["an address without 0x", { walletAddress: "a".repeat(40) }, ["walletAddress"]],
    ["an address that is a number", { walletAddress: 12 }, ["walletAddress"]],
    ["a signature that is not hex", { signature: `0x${"zz".repeat(65)}` }, ["signature"]],
    ["a signature with half a byte", { signature: "0x123" }, ["signature"]],
    ["a signature without 0x", { signature: "ab".repeat(65) }, ["signature"]],
    ["a signature that is too long", { signature: `0x${"ab".repeat(8193)}` }, ["signature"]],
    ["an empty signature", { signature: "" }, ["signature"]],
    ["a timestamp that is a string", { timestamp: "1767225600" }, ["timestamp"]],
    ["a timestamp with a fraction", { timestamp: 1767225600.5 }, ["timestamp"]],
    ["a negative timestamp", { timestamp: -1 }, ["timestamp"]],
    ["a timestamp above all integers", { timestamp: 1e300 }, ["timestamp"]],
    ["a null timestamp", { timestamp: null }, ["timestamp"]],
    ["a label of another type", { label: 5 }, ["label"]],
    ["a label that is too long", { label: "x".repeat(101) }, ["label"]],
    ["a label with a zero byte", { label: "a\u0000" }, ["label"]],
    ["a label of two lines", { label: "a\u2028b" }, ["label"]],
    ["a label of two paragraphs", { label: "a\u2029b" }, ["label"]],
    ["a label in another direction", { label: "a\u202Eb" }, ["label"]],
    ["a label with a hidden space", { label: "a\u200Bb" }, ["label"]],
    ["a label with half a character", { label: "a\uD83D" }, ["label"]],
    ["a label with a tag that is no flag's", { label: "a\u{E0067}" }, ["label"]],
    ["two invalid fields", { timestamp: "x", label: 5 }, ["timestamp", "label"]],
  ])("with %s gets 400 invalid_body with the fields' names", async (_, faulty, fields) => {
    const whole = faulty === null || Array.isArray(faulty) || fields.length === 3;
    const answer = await post(whole ? faulty : { ...good, ...faulty });
    expect(failure(answer)).toEqual([400, "invalid_body"]);
    for (const field of fields) expect(messageOf(answer)).toContain(`${field}: `);
  });

  test.each(["{", "", "undefined", '{"walletAddress":}'])(
    "%j is not JSON and gets 400 invalid_body",
    async (rawBody) => {
      const headers = { "content-type": "application/json" };
      expect(failure(await api.request(ONBOARD, { rawBody, headers }))).toEqual([400, "invalid_body"]);
    },
  );

  test("that is not JSON gets 400 invalid_body with every spelling of the content type", async () => {
    const headers = { "content-type": "APPLICATION/JSON" };
    expect(failure(await api.request(ONBOARD, { rawBody: "{", headers }))).toEqual([400, "invalid_body"]);
  });

  test("with a content type other than JSON gets 415", async () => {
    const headers = { "content-type": "text/plain" };
    const answer = await api.request(ONBOARD, { rawBody: JSON.stringify(good), headers });
    expect(failure(answer)).toEqual([415, "unsupported_media_type"]);
  });
});

describe("the timestamp", () => {
  test.each([
    [-301, false],
    [-300, true],
    [0, true],
    [300, true],
    [301, false],
  ])("%i s from the server's time is fresh: %s", (offset, accepted) => {
    expect(isFresh(1_767_225_600 + offset, 1_767_225_600)).toBe(accepted);
  });

  test.each([
    [-290, 201],
    [298, 201],
    [-303, 400],
    [900, 400], // the server's clock goes on meanwhile
  ])("%i s from this test's time gets %i", async (offset, status) => {
    const answer = await onboard(newAccount(), now() + offset);
    expect(answer.status).toBe(status);
    if (status === 400) expect(failure(answer)).toEqual([400, "stale_timestamp"]);
  });

  test("in milliseconds gets 400 stale_timestamp", async () => {
    expect(failure(await onboard(newAccount(), Date.now()))).toEqual([400, "stale_timestamp"]);
  });
});

describe("a signature", () => {
  const [account, stranger] = [newAccount(), newAccount()];
  const forged: [string, () => Promise<object>][] = [
    [
      "of another account",
      async () => ({ ...(await onboardingBody(stranger)), walletAddress: account.address }),
    ],
    ["for another address", () => onboardingBody(account, { wallet: stranger.address })],
    ["for another timestamp", async () => ({ ...(await onboardingBody(account)), timestamp: now() - 7 })],
    [
      "of another message",
      async () => ({
        ...(await onboardingBody(account)),
        signature: await account.signMessage({ message: "hello" }),
      }),
    ],
    ["without bytes", async () => ({ ...(await onboardingBody(account)), signature: "0x" })],
    ["that is too short", async () => ({ ...(await onboardingBody(account)), signature: "0x1234" })],
    ["of zeros", async () => ({ ...(await onboardingBody(account)), signature: `0x${"00".repeat(65)}` })],
  ];
  test.each(forged)("%s gets 401 invalid_signature", async (_, body) => {
    expect(failure(await post(await body()))).toEqual([401, "invalid_signature"]);
    expect(await activeKeys(account)).toBe(0);
  });

  test("creates one key, also after a restart and in another spelling", async () => {
    const body = await onboardingBody(account);
    expect((await post(body)).status).toBe(201);
    expect(failure(await post(body))).toEqual([409, "signature_used"]);
    await api.stack.restart("api");
    const respelled = { ...body, walletAddress: body.walletAddress.toLowerCase(), label: "again" };
    expect(failure(await post(respelled))).toEqual([409, "signature_used"]);
    expect(await activeKeys(account)).toBe(1);
  });

  test("creates one key in 20 simultaneous requests", async () => {
    const twin = newAccount();
    const body = await onboardingBody(twin);
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(body)));
    expect(outcomes(answers)).toEqual(["201", ...several(19, "409 signature_used")]);
    expect(await activeKeys(twin)).toBe(1);
  });
});

describe("the cap of three active keys", () => {
  test("holds for 50 simultaneous onboardings through two processes", async () => {
    const account = newAccount();
    const latest = now();
    const bodies = await Promise.all(
      Array.from({ length: 50 }, (_, index) => onboardingBody(account, { timestamp: latest - index })),
    );
    const answers = await Promise.all(
      bodies.map((body, index) => (index % 2 ? post(body) : elsewhere(ONBOARD, { body }))),
    );
    expect(outcomes(answers)).toEqual([...several(3, "201"), ...several(47, "409 cap_reached")]);
    expect(await activeKeys(account)).toBe(3);
  });

  test("holds for the operator and the wallet at the same time", async () => {
    const account = newAccount();
    const latest = now();
    const generate = { headers: admin, body: { wallet: account.address } };
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        index % 2 ? onboard(account, latest - index) : api.request("/api/v1/keys/generate", generate),
      ),
    );
    expect(outcomes(answers)).toEqual([...several(3, "201"), ...several(17, "409 cap_reached")]);
    expect(await activeKeys(account)).toBe(3);
  });

  test("counts keys that the operator issued; a signature refused at the cap stays usable", async () => {
    const account = newAccount();
    const keys: number[] = [];
    for (let i = 0; i < 3; i += 1) keys.push((await issueKey(api.request, account.address)).keyId);
    const body = await onboardingBody(account);
    expect(failure(await post(body))).toEqual([409, "cap_reached"]);
    await api.request(`/api/v1/keys/${keys[0]}`, { method: "DELETE", headers: admin });
    expect((await post(body)).status).toBe(201);
    expect(failure(await post(body))).toEqual([409, "signature_used"]);
    expect(await activeKeys(account)).toBe(3);
  });
});

describe("a wallet that has lost its keys", () => lostKeys(() => api));

test("only signatures too old to be sent again are deleted", async () => {
  const old = `0x${"1".repeat(40)}`;
  for (const age of [3000, 4000]) {
    await sql`insert into service.onboarding_signature (wallet, signed_at) values (${old}, ${now() - age})`;
  }
  await onboard(newAccount());
  const left = async () =>
    (await sql`select signed_at from service.onboarding_signature where wallet = ${old}`).length;
  await expect.poll(left).toBe(1);
});

test("without the database onboarding gets 503, and the signature stays usable", async () => {
  const body = await onboardingBody(newAccount());
  await proxy.cut();
  expect(failure(await elsewhere(ONBOARD, { body }))).toEqual([503, "database_unavailable"]);
  await proxy.mend();
  await expect.poll(async () => (await elsewhere(ONBOARD, { body })).status).toBe(201);
});

test("an address has ten attempts per hour over all processes, whatever their result", async () => {
  // Unset, so that the default applies. Counted as the requests of keys: key-rate-limit-processes.test.ts has Redis too.
  const env = { ONBOARD_RATE_LIMIT: "", LOG_LEVEL: "trace" };
  const databaseUrl = await freshDatabase();
  const stacks = await Promise.all([
    startLimitedApi(api.chain, env, { databaseUrl }),
    startLimitedApi(api.chain, env, { databaseUrl }),
  ]);
  const [one, other] = [await clientsOf(stacks[0]), await clientsOf(stacks[1])];
  const [first, second] = [one("198.51.100.1"), other("198.51.100.1")];
  const account = newAccount();
  const body = await onboardingBody(account);
  const made = await first(ONBOARD, { body });
  expect([made.status, remaining(made), headerNumber(made, "x-ratelimit-limit")]).toEqual([201, 9, 10]);
  expect(await statuses(second, [ONBOARD, ONBOARD], { body })).toEqual(["409 8", "409 7"]);
  expect(await statuses(first, [ONBOARD], { body: {} })).toEqual(["400 6"]);
  const stale = await onboardingBody(account, { timestamp: now() - 900 });
  expect(await statuses(second, [ONBOARD], { body: stale })).toEqual(["400 5"]);
  const foreign: Hex = (await onboardingBody(newAccount())).signature;
  expect(await statuses(first, [ONBOARD], { body: { ...body, signature: foreign } })).toEqual(["401 4"]);
  const rest = await Promise.all(
    Array.from({ length: 10 }, (_, index) => (index % 2 ? first : second)(ONBOARD, { rawBody: "{" })),
  );
  expect(outcomes(rest)).toEqual([...several(4, "400 invalid_body"), ...several(6, "429 rate_limit")]);
  const refused = await second(ONBOARD, { body: await onboardingBody(account, { timestamp: now() - 1 }) });
  expect(failure(refused)).toEqual([429, "rate_limit"]);
  expect(headerNumber(refused, "retry-after")).toBe(headerNumber(refused, "x-ratelimit-reset"));
  expect(headerNumber(refused, "retry-after")).toBeGreaterThan(3400); // a test may take 120 of the 3600 seconds
  expect((await other("198.51.100.2")(ONBOARD, { body: {} })).status).toBe(400);
  for (const { output } of stacks) expect(output("api")).not.toContain(keyOf(made).headers["x-api-key"]);
});
