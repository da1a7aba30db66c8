/**
 * Two api processes and two writers with the same keys, and clients that want more than their share of the sandbox. What
 * this proves, counted on the chain: ten calls of an address buy ten policies, whatever is asked at once and of whom, and
 * no header buys an eleventh.
 */
import { beforeAll, expect, test } from "vitest";
import { failure } from "../api/support/api.ts";
import type { HttpAnswer } from "../support/http.ts";
import { policiesOnChain } from "../support/ledger.ts";
import { type CheckedRequest, checkedRequests } from "../support/openapi.ts";
import { startStack } from "../support/stack.ts";
import { disguises, guisesOf, neighboursIn } from "./support/disguises.ts";
import {
  boughtIn,
  expectBoughtOnce,
  nextBlock,
  sandboxReady,
  sandboxWallet,
} from "./support/sandbox-truth.ts";
import {
  atRest,
  newcomer,
  stackOptions,
  startTestnetWorld,
  type TestnetWorld,
} from "./support/testnet-world.ts";

const PATH = "/sandbox/try";
const SHARE = 10;
const options = {
  parts: "sandbox",
  env: { api: { SANDBOX_RATE_LIMIT: String(SHARE), PURCHASE_WAIT_MS: "60000" } },
} as const;

let world: TestnetWorld;
let both: readonly [CheckedRequest, CheckedRequest];

beforeAll(async () => {
  world = await startTestnetWorld(options);
  const second = await startStack({
    ...stackOptions(world.main, world.testnet, options),
    databaseUrl: world.stack.databaseUrl,
  });
  both = [world.request, await checkedRequests(second.apiUrl)];
  await sandboxReady(world);
});

const ask = (n: number, headers: Readonly<Record<string, string>>): Promise<HttpAnswer> =>
  both[n % 2 === 0 ? 0 : 1](PATH, { method: "POST", headers });

function expectRefused(answer: HttpAnswer, what = "") {
  expect(failure(answer), what).toEqual([403, "sandbox_cap_exceeded"]);
  const wait = Number(answer.headers.get("retry-after"));
  expect(wait).toBeGreaterThan(3400);
  expect(wait).toBeLessThanOrEqual(3600);
  expect(Number(answer.headers.get("x-ratelimit-limit"))).toBe(SHARE);
  expect(Number(answer.headers.get("x-ratelimit-remaining"))).toBe(0);
}

test("forty calls at once of one address, of both processes: ten policies", async () => {
  const fromBlock = await nextBlock(world);
  const { from } = newcomer();
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, n) =>
      ask(n, { "x-forwarded-for": from, "idempotency-key": `forty-${n}` }),
    ),
  );
  const told = answers.filter(({ status }) => status === 200);
  expect(told).toHaveLength(SHARE);
  for (const answer of answers) if (answer.status !== 200) expectRefused(answer);
  await expectBoughtOnce(world, told.map(boughtIn), fromBlock);

  // What was bought is told again, and is no call; what was refused stays refused.
  for (const [n, answer] of answers.entries()) {
    const again = await ask(n + 1, { "x-forwarded-for": from, "idempotency-key": `forty-${n}` });
    if (answer.status === 200) expect(boughtIn(again).txHash).toBe(boughtIn(answer).txHash);
    else expectRefused(again);
  }
  await expectBoughtOnce(world, told.map(boughtIn), fromBlock);
});

test("ten calls at once under one key: one policy", async () => {
  const fromBlock = await nextBlock(world);
  const { from } = newcomer();
  const headers = { "x-forwarded-for": from, "idempotency-key": "ten-in-one" };
  const answers = await Promise.all(Array.from({ length: SHARE }, (_, n) => ask(n, headers)));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect(new Set(answers.map((answer) => boughtIn(answer).txHash)).size).toBe(1);
  await expectBoughtOnce(world, answers.slice(0, 1).map(boughtIn), fromBlock);
  // The key is that client's: for another one it is a key like any.
  const other = await ask(0, { ...headers, "x-forwarded-for": newcomer().from });
  expect(boughtIn(other).txHash).not.toBe(answers[0] && boughtIn(answers[0]).txHash);
});

test("no header and no neighbour has a share of its own", async () => {
  const [four, six] = [newcomer().from, "2001:db8:55:1"];
  for (const from of [four, `${six}::1`]) {
    const answers = await Promise.all(
      Array.from({ length: SHARE }, (_, n) => ask(n, { "x-forwarded-for": from })),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  }
  await atRest(world);
  const before = (await policiesOnChain(world.testnet, sandboxWallet)).length;
  let n = 0;
  for (const guise of [...guisesOf(four), ...neighboursIn(six)]) {
    for (const disguise of [{}, ...disguises]) {
      n += 1;
      expectRefused(
        await ask(n, { ...disguise, "x-forwarded-for": guise }),
        `${guise} ${JSON.stringify(disguise)}`,
      );
    }
  }
  await atRest(world);
  expect(await policiesOnChain(world.testnet, sandboxWallet)).toHaveLength(before);
  expect((await ask(0, { "x-forwarded-for": "2001:db8:55:2::1" })).status).toBe(200);
});

test("without a trusted proxy the socket alone has a share", async () => {
  const open = await startStack({
    ...stackOptions(world.main, world.testnet, {
      ...options,
      env: { api: { ...options.env.api, TRUST_PROXY: "" } },
    }),
    services: ["api"],
    databaseUrl: world.stack.databaseUrl,
  });
  const request = await checkedRequests(open.apiUrl);
  const answers = await Promise.all(
    Array.from({ length: SHARE + 5 }, (_, n) =>
      request(PATH, {
        method: "POST",
        headers: { "x-forwarded-for": `198.51.100.${n}`, ...disguises[n % 4] },
      }),
    ),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(SHARE);
  for (const answer of answers) if (answer.status !== 200) expectRefused(answer);
});
