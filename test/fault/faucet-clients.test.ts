/**
 * Clients that hang up, come back, ask for others, or lie about who they are. What this proves, counted on the chain: a
 * claim is paid once and its outcome told to the client that made it, and no header buys a second one.
 */
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { waitFor } from "../../scripts/local/wait.ts";
import { failure } from "../api/support/api.ts";
import type { HttpAnswer } from "../support/http.ts";
import { checkedRequests } from "../support/openapi.ts";
import { startStack } from "../support/stack.ts";
import { disguises, guisesOf, neighboursIn } from "./support/disguises.ts";
import { claim, claimPatiently, expectPaidOnce, expectTruth, grantedIn } from "./support/faucet-truth.ts";
import { isReceiptRead } from "./support/strikes.ts";
import {
  type Newcomer,
  newcomer,
  randomWallet,
  stackOptions,
  startTestnetWorld,
  type TestnetWorld,
} from "./support/testnet-world.ts";

const PATH = "/api/v1/faucet/claim";

/** Passed the gate, whether it was paid within the wait or not. */
const expectTaken = ({ status, text }: HttpAnswer) =>
  expect(status === 200 || text.includes('"claim_pending"'), text).toBe(true);

let world: TestnetWorld;
beforeAll(async () => {
  world = await startTestnetWorld({ parts: "faucet" });
});
afterEach(() => world.proxy.intercept());

/** Mined transactions stay unknown to the writer until it is told otherwise. */
const hideReceipts = () =>
  world.proxy.intercept(async (call, forward) => (isReceiptRead(call) ? { result: null } : forward()));

/** Waits until one call alone waits for the wallet's claim; the claim stays that call's until it is answered. */
const waitUntilAwaited = ({ wallet }: Newcomer) =>
  waitFor({
    what: "a call to wait for the claim",
    probe: async () => {
      const rows = await world.connection.sql`
        select 1 from service.faucet_claim
        where wallet = ${wallet.toLowerCase()} and awaited_until > clock_timestamp()`;
      return rows.length > 0 || undefined;
    },
    timeoutMs: 60_000,
    intervalMs: 5,
  });

describe("one client", () => {
  test("hangs up at once and repeats when the wait is over: told, once, of what it has", async () => {
    const who = newcomer();
    const patience = new AbortController();
    hideReceipts(); // or it would be told before it can hang up
    const hasty = fetch(`${world.stack.apiUrl}${PATH}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-forwarded-for": who.from },
      body: JSON.stringify({ wallet: who.wallet }),
      signal: patience.signal,
    });
    hasty.catch(() => {}); // looked at below
    await waitUntilAwaited(who);
    patience.abort();
    await expect(hasty).rejects.toThrow();
    world.proxy.intercept();
    await expectPaidOnce(world, [who.wallet]);
    const { seen, granted } = await claimPatiently(world, who);
    expect(seen).toEqual(["200"]);
    await expectTruth(world, who, granted);
    expect(failure(await claim(world, who))).toEqual([429, "wallet_rate_limited"]);
    await expectPaidOnce(world, [who.wallet]);
  });

  test("is told claim_pending, asks again, and is told the outcome; nobody else is", async () => {
    const who = newcomer();
    hideReceipts();
    const pending = await claim(world, who);
    expect(failure(pending)).toEqual([503, "claim_pending"]);
    expect(Number(pending.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(failure(await claim(world, who))).toEqual([503, "claim_pending"]);
    // Others for this wallet, and the same client for others.
    const [forIt, byIt] = [
      { wallet: who.wallet, from: newcomer().from },
      { wallet: randomWallet(), from: who.from },
    ];
    expect(failure(await claim(world, forIt))).toEqual([429, "wallet_rate_limited"]);
    expect(failure(await claim(world, byIt))).toEqual([429, "ip_rate_limited"]);
    world.proxy.intercept();
    const told = await waitFor({
      what: "the outcome to be told",
      probe: async () => {
        const answer = await claim(world, who);
        return answer.status === 200 ? answer : undefined;
      },
      timeoutMs: 60_000,
      intervalMs: 500,
    });
    await expectTruth(world, who, grantedIn(told));
    const [again, late] = [await claim(world, who), await claim(world, forIt)];
    for (const refused of [again, late]) {
      expect(failure(refused)).toEqual([429, "wallet_rate_limited"]);
      const eligible = Date.parse(grantedIn(told).nextEligibleAt);
      const said = Date.now() + Number(refused.headers.get("retry-after")) * 1000;
      expect(Math.abs(eligible - said)).toBeLessThan(120_000);
    }
    await expectPaidOnce(world, [who.wallet], [byIt.wallet]);
  });

  test("loses the process that it asked, and asks the next one: told, once, of what it has", async () => {
    const who = newcomer();
    hideReceipts();
    const lost = claim(world, who).catch(() => "lost");
    await waitUntilAwaited(who);
    await world.stack.kill9("api");
    expect(await lost).toBe("lost");
    world.proxy.intercept();
    await world.stack.start("api");
    const { granted } = await claimPatiently(world, who);
    await expectTruth(world, who, granted);
    expect(failure(await claim(world, who))).toEqual([429, "wallet_rate_limited"]);
    await expectPaidOnce(world, [who.wallet]);
  });

  test("repeats twenty times at once what it was not told: all of its calls tell of one grant", async () => {
    const who = newcomer();
    hideReceipts();
    expect(failure(await claim(world, who))).toEqual([503, "claim_pending"]);
    const twenty = () => Promise.all(Array.from({ length: 20 }, () => claim(world, who)));
    const repeats = twenty();
    await waitUntilAwaited(who);
    world.proxy.intercept();
    const answers = await repeats;
    const told = await waitFor({
      what: "one of twenty to be told",
      probe: async () => {
        const granted = answers.filter(({ status }) => status === 200).map(grantedIn);
        if (granted.length > 0) return granted;
        // The one that waited was not told in time either: all of them ask again.
        answers.push(...(await twenty()));
        return undefined;
      },
      timeoutMs: 60_000,
    });
    expect(new Set(told.map(({ ethTxHash, usdcTxHash }) => ethTxHash + usdcTxHash)).size).toBe(1);
    for (const answer of answers) expect([200, 429, 503]).toContain(answer.status);
    expect(failure(await claim(world, who))).toEqual([429, "wallet_rate_limited"]);
    await expectPaidOnce(world, [who.wallet]);
  });

  test("spells its wallet in other letters: it is the same wallet", async () => {
    const who = newcomer();
    await claimPatiently(world, who);
    const spellings = [who.wallet.toLowerCase(), `0x${who.wallet.slice(2).toUpperCase()}`] as const;
    for (const wallet of spellings) {
      const answer = await world.request(PATH, {
        headers: { "x-forwarded-for": newcomer().from },
        body: { wallet },
      });
      expect(failure(answer)).toEqual([429, "wallet_rate_limited"]);
    }
    await expectPaidOnce(world, [who.wallet]);
  });
});

test("behind the proxy only its own entry counts, in whatever form, and on the other process too", async () => {
  const second = await startStack({
    ...stackOptions(world.main, world.testnet, { parts: "faucet" }),
    services: ["api"],
    databaseUrl: world.stack.databaseUrl,
  });
  const [one, other] = [world.request, await checkedRequests(second.apiUrl)];
  const ask = (forwardedFor: string, more: Readonly<Record<string, string>>, n: number) =>
    (n % 2 === 0 ? one : other)(PATH, {
      headers: { "x-forwarded-for": forwardedFor, ...more },
      body: { wallet: randomWallet() },
    });
  const [four, six] = [newcomer().from, "2001:db8:44:1"];
  expectTaken(await ask(four, {}, 0));
  expectTaken(await ask(`${six}::1`, {}, 0));
  const guises = [...guisesOf(four), ...neighboursIn(six)];
  let n = 1;
  for (const guise of guises) {
    for (const more of [{}, ...disguises]) {
      expect(failure(await ask(guise, more, n)), `${guise} ${JSON.stringify(more)}`).toEqual([
        429,
        "ip_rate_limited",
      ]);
      n += 1;
    }
  }
  expectTaken(await ask("2001:db8:44:2::1", {}, 1));
});

test("without a trusted proxy the socket alone counts", async () => {
  const open = await startStack({
    ...stackOptions(world.main, world.testnet, { parts: "faucet", env: { api: { TRUST_PROXY: "" } } }),
    services: ["api"],
    databaseUrl: world.stack.databaseUrl,
  });
  const request = await checkedRequests(open.apiUrl);
  const ask = (headers: Readonly<Record<string, string>>) =>
    request(PATH, { headers, body: { wallet: randomWallet() } });
  expectTaken(await ask({}));
  for (const disguise of [{}, { "x-forwarded-for": newcomer().from }, ...disguises]) {
    expect(failure(await ask(disguise)), JSON.stringify(disguise)).toEqual([429, "ip_rate_limited"]);
  }
});
