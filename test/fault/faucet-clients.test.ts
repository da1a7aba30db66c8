/**
 * Clients that hang up, repeat their claim, claim for other wallets, or forge their address. What this proves, checked on
 * the chain: a claim is paid once, only its own client gets the result, and no header gets a second grant.
 */
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { waitFor } from "../../scripts/local/wait.ts";
import { failure } from "../api/support/api.ts";
import type { HttpAnswer } from "../support/http.ts";
import { checkedRequests } from "../support/openapi.ts";
import { startStack } from "../support/stack.ts";
import {
  claim,
  claimUntilPaid,
  expectGrantMined,
  expectPaidOnce,
  parseGrant,
} from "./support/faucet-calls.ts";
import { forgedForwardedFor, forgedHeaders, sameNetworkForwardedFor } from "./support/forged-headers.ts";
import { isReceiptRead } from "./support/testnet-faults.ts";
import {
  type NewClient,
  newClient,
  randomWallet,
  stackOptions,
  startTestnetSetup,
  type TestnetSetup,
} from "./support/testnet-setup.ts";

const PATH = "/api/v1/faucet/claim";

/** The claim was accepted, whether it was paid within the wait or not. */
const expectAccepted = ({ status, text }: HttpAnswer) =>
  expect(status === 200 || text.includes('"claim_pending"'), text).toBe(true);

/** Long enough to see that a call waits before it is answered, in ms. */
const WAIT_MS = 4000;

let setup: TestnetSetup;
beforeAll(async () => {
  setup = await startTestnetSetup({ parts: "faucet", env: { api: { PURCHASE_WAIT_MS: String(WAIT_MS) } } });
});
afterEach(() => setup.proxy.intercept());

/** The writer finds no receipts until the proxy's interceptor is removed. */
const hideReceipts = () =>
  setup.proxy.intercept(async (call, forward) => (isReceiptRead(call) ? { result: null } : forward()));

/** Waits until a call waits for the wallet's claim; until its answer no other call gets the result. */
const waitUntilAwaited = ({ wallet }: NewClient) =>
  waitFor({
    what: "a call to wait for the claim",
    probe: async () => {
      const rows = await setup.connection.sql`
        select 1 from service.faucet_claim
        where wallet = ${wallet.toLowerCase()} and awaited_until > clock_timestamp()`;
      return rows.length > 0 || undefined;
    },
    intervalMs: 5,
  });

describe("one client", () => {
  test("hangs up and repeats its claim after the payment: gets the grant once", async () => {
    const client = newClient();
    const hangUp = new AbortController();
    hideReceipts(); // or the answer would come first
    const aborted = fetch(`${setup.stack.apiUrl}${PATH}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-forwarded-for": client.ip },
      body: JSON.stringify({ wallet: client.wallet }),
      signal: hangUp.signal,
    });
    aborted.catch(() => {}); // awaited below
    await waitUntilAwaited(client);
    hangUp.abort();
    await expect(aborted).rejects.toThrow();
    setup.proxy.intercept();
    await expectPaidOnce(setup, [client.wallet]);
    const { seen, grant } = await claimUntilPaid(setup, client);
    expect(seen).toEqual(["200"]);
    await expectGrantMined(setup, client, grant);
    expect(failure(await claim(setup, client))).toEqual([429, "wallet_rate_limited"]);
    await expectPaidOnce(setup, [client.wallet]);
  });

  test("gets claim_pending, then the grant on its next call; other clients never get it", async () => {
    const client = newClient();
    hideReceipts();
    const pending = await claim(setup, client);
    expect(failure(pending)).toEqual([503, "claim_pending"]);
    expect(Number(pending.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(failure(await claim(setup, client))).toEqual([503, "claim_pending"]);
    const [sameWallet, sameIp] = [
      { wallet: client.wallet, ip: newClient().ip },
      { wallet: randomWallet(), ip: client.ip },
    ];
    expect(failure(await claim(setup, sameWallet))).toEqual([429, "wallet_rate_limited"]);
    expect(failure(await claim(setup, sameIp))).toEqual([429, "ip_rate_limited"]);
    setup.proxy.intercept();
    const paid = await waitFor({
      what: "the claim to be answered with its grant",
      probe: async () => {
        const answer = await claim(setup, client);
        return answer.status === 200 ? answer : undefined;
      },
      intervalMs: 500,
    });
    await expectGrantMined(setup, client, parseGrant(paid));
    const [again, late] = [await claim(setup, client), await claim(setup, sameWallet)];
    for (const refused of [again, late]) {
      expect(failure(refused)).toEqual([429, "wallet_rate_limited"]);
      const eligible = Date.parse(parseGrant(paid).nextEligibleAt);
      const retryAt = Date.now() + Number(refused.headers.get("retry-after")) * 1000;
      expect(Math.abs(eligible - retryAt)).toBeLessThan(120_000);
    }
    await expectPaidOnce(setup, [client.wallet], [sameIp.wallet]);
  });

  test("repeats its claim after the api was killed during the first call: gets the grant once", async () => {
    const client = newClient();
    hideReceipts();
    const lost = claim(setup, client).catch(() => "lost");
    await waitUntilAwaited(client);
    await setup.stack.kill9("api");
    expect(await lost).toBe("lost");
    setup.proxy.intercept();
    await setup.stack.start("api");
    const { grant } = await claimUntilPaid(setup, client);
    await expectGrantMined(setup, client, grant);
    expect(failure(await claim(setup, client))).toEqual([429, "wallet_rate_limited"]);
    await expectPaidOnce(setup, [client.wallet]);
  });

  test("repeats a pending claim twenty times at once: gets one and the same grant", async () => {
    const client = newClient();
    hideReceipts();
    expect(failure(await claim(setup, client))).toEqual([503, "claim_pending"]);
    const twenty = () => Promise.all(Array.from({ length: 20 }, () => claim(setup, client)));
    const repeats = twenty();
    await waitUntilAwaited(client);
    setup.proxy.intercept();
    const answers = await repeats;
    const grants = await waitFor({
      what: "one of twenty calls to get the grant",
      probe: async () => {
        const received = answers.filter(({ status }) => status === 200).map(parseGrant);
        if (received.length > 0) return received;
        // The call that waited timed out too: repeat all twenty.
        answers.push(...(await twenty()));
        return undefined;
      },
    });
    expect(new Set(grants.map(({ ethTxHash, usdcTxHash }) => ethTxHash + usdcTxHash)).size).toBe(1);
    for (const answer of answers) expect([200, 429, 503]).toContain(answer.status);
    expect(failure(await claim(setup, client))).toEqual([429, "wallet_rate_limited"]);
    await expectPaidOnce(setup, [client.wallet]);
  });

  test("writes its wallet in lower or upper case: it counts as the same wallet", async () => {
    const client = newClient();
    await claimUntilPaid(setup, client);
    const spellings = [client.wallet.toLowerCase(), `0x${client.wallet.slice(2).toUpperCase()}`] as const;
    for (const wallet of spellings) {
      const answer = await setup.request(PATH, {
        headers: { "x-forwarded-for": newClient().ip },
        body: { wallet },
      });
      expect(failure(answer)).toEqual([429, "wallet_rate_limited"]);
    }
    await expectPaidOnce(setup, [client.wallet]);
  });
});

test("behind a trusted proxy only the address that the proxy adds counts, in any spelling and on every api process", async () => {
  const second = await startStack({
    ...stackOptions(setup.main, setup.testnet, { parts: "faucet" }),
    services: ["api"],
    databaseUrl: setup.stack.databaseUrl,
  });
  const [one, other] = [setup.request, await checkedRequests(second.apiUrl)];
  const ask = (forwardedFor: string, forged: Readonly<Record<string, string>>, n: number) =>
    (n % 2 === 0 ? one : other)(PATH, {
      headers: { "x-forwarded-for": forwardedFor, ...forged },
      body: { wallet: randomWallet() },
    });
  const [ipv4, prefix] = [newClient().ip, "2001:db8:44:1"];
  expectAccepted(await ask(ipv4, {}, 0));
  expectAccepted(await ask(`${prefix}::1`, {}, 0));
  let n = 1;
  for (const forwardedFor of [...forgedForwardedFor(ipv4), ...sameNetworkForwardedFor(prefix)]) {
    for (const forged of [{}, ...forgedHeaders]) {
      expect(
        failure(await ask(forwardedFor, forged, n)),
        `${forwardedFor} ${JSON.stringify(forged)}`,
      ).toEqual([429, "ip_rate_limited"]);
      n += 1;
    }
  }
  expectAccepted(await ask("2001:db8:44:2::1", {}, 1));
});

test("without a trusted proxy only the socket's address counts", async () => {
  const unproxied = await startStack({
    ...stackOptions(setup.main, setup.testnet, { parts: "faucet", env: { api: { TRUST_PROXY: "" } } }),
    services: ["api"],
    databaseUrl: setup.stack.databaseUrl,
  });
  const request = await checkedRequests(unproxied.apiUrl);
  const ask = (headers: Readonly<Record<string, string>>) =>
    request(PATH, { headers, body: { wallet: randomWallet() } });
  expectAccepted(await ask({}));
  for (const forged of [{}, { "x-forwarded-for": newClient().ip }, ...forgedHeaders]) {
    expect(failure(await ask(forged)), JSON.stringify(forged)).toEqual([429, "ip_rate_limited"]);
  }
});
