/** Live scans that take long, or run concurrently. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { anvilAccount } from "../../../lib/chain/client.ts";
import { signalPid } from "../../../scripts/local/pids.ts";
import { openProtocol, purchase, refreshFeeds } from "../../../scripts/local/protocol/actions/index.ts";
import { termsOf } from "../../../scripts/local/protocol/terms.ts";
import { seedAccounts, usdc } from "../../../scripts/local/seed/accounts.ts";
import type { HttpAnswer } from "../../support/http.ts";
import { failure } from "./api.ts";
import { answersInTime, type LiveScanSetup, logRangeOf } from "./live-scan.ts";
import { reorganisedLiveScans } from "./live-scan-reorganised.ts";
import { sendTracked } from "./tracked-request.ts";

const buyer = seedAccounts.bob;
const pathOf = (wallet: string, query = "") => `/api/v1/public/policies/${wallet}${query}`;
/** The api counts the scans that a client starts. */
type Client = { readonly headers: Readonly<Record<string, string>> };
const [alice, bob, carol]: readonly [Client, Client, Client] = [
  { headers: { "x-forwarded-for": "198.51.100.1" } },
  { headers: { "x-forwarded-for": "198.51.100.2" } },
  { headers: { "x-forwarded-for": "198.51.100.3" } },
];
const poll = { interval: 50 };

type HeldLogs = {
  readonly release: () => void;
  /** Scans of this wallet that have started. Retries of a held scan, for fewer blocks, do not count. */
  readonly held: (wallet: string) => number;
  /** Distinct scans of all wallets. */
  readonly scans: () => number;
};

const filterOf = z.tuple([z.object({ address: z.unknown(), topics: z.unknown() })]);

function simultaneousScans(setup: () => LiveScanSetup): void {
  const policiesOf = (wallet: string, query = "", client?: Client) =>
    setup().live(pathOf(wallet, query), client);
  /** The same request, sent so that a test sees when the api has received it. */
  const sendFor = (wallet: string, query = "", client?: Client) =>
    sendTracked(`${setup().liveUrl}${pathOf(wallet, query)}`, client);
  const bondsOf = (wallet: string, client?: Client) => setup().live(`/api/v1/public/bonds/${wallet}`, client);
  const nextBlock = () => setup().chain.client.mine({ blocks: 1 });

  /** Holds every `eth_getLogs` call until `release`. */
  function holdLogs(): HeldLogs {
    let release = () => {};
    const held: string[] = [];
    const scans = new Set<string>();
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    setup().proxy.intercept(async (call, forward) => {
      if (logRangeOf(call)) {
        held.push(JSON.stringify(call.params).toLowerCase());
        const [{ address, topics }] = filterOf.parse(call.params);
        scans.add(JSON.stringify([address, topics]));
        await released;
      }
      return forward();
    });
    return {
      release,
      held: (wallet) => {
        const own = held.filter((params) => params.includes(wallet.slice(2).toLowerCase()));
        return own.filter((params) => params === own[0]).length;
      },
      scans: () => scans.size,
    };
  }

  describe("simultaneous requests for one wallet", () => {
    test("share one scan, also for different pages", async () => {
      const queries = ["", "?limit=1", "?limit=2&offset=1"];
      /** The scans of the buyer before and after the answers. */
      let scans: number[] = [];
      const answers = await answersInTime(async () => {
        await expect.poll(async () => (await policiesOf(buyer.address)).status, poll).toBe(200);
        await nextBlock();
        const { release, held } = holdLogs();
        // All requests are in the api's socket buffers before it reads the first.
        signalPid(setup().livePid, "SIGSTOP");
        const waiting = Array.from({ length: 12 }, (_, i) => sendFor(buyer.address, queries[i % 3]));
        await Promise.all(waiting.map(({ sent }) => sent)).finally(() =>
          signalPid(setup().livePid, "SIGCONT"),
        );
        await Promise.all(waiting.map(({ received }) => received));
        // Once a later request has started its own scan, the earlier requests have joined theirs.
        const last = anvilAccount(17).address;
        const later = policiesOf(last);
        await expect.poll(() => held(last), poll).toBeGreaterThan(0);
        scans = [held(buyer.address)];
        release();
        const shared = await Promise.all([...waiting.map(({ answer }) => answer), later]);
        scans.push(held(buyer.address));
        return shared;
      });
      expect(scans).toEqual([1, 1]);
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      const alone = await answersInTime(() =>
        Promise.all(queries.map((query) => policiesOf(buyer.address, query))),
      );
      expect(new Set(alone.map(({ text }) => text)).size).toBe(3);
      const shared = answers.slice(0, -1);
      expect(shared.map(({ text }) => text)).toEqual(shared.map((_, i) => alone[i % 3]?.text));
    });

    test("a new block starts a new scan: a buyer finds a policy bought just now", async () => {
      const total = async () =>
        z.looseObject({ total: z.int() }).parse((await policiesOf(buyer.address)).json).total;
      const before = await total();
      const { chain } = setup();
      const protocol = openProtocol(chain.deployment, chain.url);
      await refreshFeeds(protocol, seedAccounts.owner);
      await purchase(protocol, buyer, termsOf("FLASHBTC1H-001"), usdc(100));
      expect(await total()).toBe(before + 1);
    });

    test("a failed scan gives 503 to all who wait, and the next request starts a new scan", async () => {
      await nextBlock();
      setup().proxy.intercept(async (call, forward) =>
        logRangeOf(call) ? { error: { code: -32000, message: "no" } } : forward(),
      );
      const answers = await Promise.all(Array.from({ length: 10 }, () => bondsOf(buyer.address)));
      for (const answer of answers) expect(failure(answer)).toEqual([503, "chain_not_found"]);
      setup().proxy.intercept();
      expect((await bondsOf(buyer.address)).status).toBe(200);
    });
  });

  test("four scans run at once, a fifth wallet gets 503 scan_busy, and other endpoints respond", async () => {
    await nextBlock();
    const { release, held, scans } = holdLogs();
    const running: Promise<HttpAnswer>[] = [
      policiesOf(anvilAccount(10).address, "", alice),
      policiesOf(anvilAccount(11).address, "", alice),
      bondsOf(anvilAccount(10).address, bob),
      bondsOf(anvilAccount(11).address, bob),
    ];
    await expect.poll(scans, poll).toBe(4);
    const joined = sendFor(anvilAccount(10).address, "?limit=1");
    await joined.received;
    // Later requests get a response, so this one has joined a running scan.
    for (const refused of [
      await policiesOf(anvilAccount(12).address, "", carol),
      await bondsOf(anvilAccount(12).address, carol),
    ]) {
      expect(failure(refused)).toEqual([503, "scan_busy"]);
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    }
    expect((await setup().live("/products")).status).toBe(200);
    expect([scans(), held(anvilAccount(12).address)]).toEqual([4, 0]);
    release();
    for (const answer of [...running, joined.answer]) expect((await answer).status).toBe(200);
    expect((await policiesOf(anvilAccount(12).address)).status).toBe(200);
  });

  test("a client may start two scans at once; it joins the scans of others, and others start their own", async () => {
    await nextBlock();
    const { release, scans } = holdLogs();
    const [first, second, third, fourth] = [10, 11, 12, 13].map((index) => anvilAccount(index).address);
    if (!first || !second || !third || !fourth) throw new Error("unreachable");
    const running = [policiesOf(first, "", alice), bondsOf(second, alice), policiesOf(third, "", bob)];
    await expect.poll(scans, poll).toBe(3);
    const refused = await policiesOf(fourth, "", alice);
    expect(failure(refused)).toEqual([503, "scan_busy"]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    const joined = sendFor(third, "?limit=1", alice);
    await joined.received;
    const last = bondsOf(fourth, carol);
    await expect.poll(scans, poll).toBe(4);
    release();
    for (const answer of [...running, joined.answer, last]) expect((await answer).status).toBe(200);
    expect((await policiesOf(fourth, "", alice)).status).toBe(200);
  });
}

/** Leaves windows so small that no other test can count scans: must be the last test of live scans. */
function hungScans(setup: () => LiveScanSetup): void {
  test("a node that never responds to eth_getLogs gives 503, and does not block the next scan", async () => {
    await setup().chain.client.mine({ blocks: 1 });
    const wallets = [13, 14, 15, 16].map((index) => anvilAccount(index).address);
    setup().proxy.intercept((call, forward) => (logRangeOf(call) ? new Promise(() => {}) : forward()));
    const clients = [alice, alice, bob, bob];
    const answers = await Promise.all(wallets.map((wallet, i) => setup().live(pathOf(wallet), clients[i])));
    for (const answer of answers) expect(failure(answer)).toEqual([503, "chain_not_found"]);
    setup().proxy.intercept();
    await expect.poll(async () => (await setup().live(pathOf(buyer.address))).status, poll).toBe(200);
  });
}

/** Windows must have grown to the whole range. */
export function liveScanLoad(setup: () => LiveScanSetup): void {
  simultaneousScans(setup);
  describe("a reorganisation during a scan", () => reorganisedLiveScans(setup));
  hungScans(setup);
}
