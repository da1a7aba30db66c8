/** Scans that take long, come in numbers, or meet a reorganisation. */
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { anvilAccount } from "../../lib/chain/client.ts";
import { signalPid } from "../../scripts/local/pids.ts";
import {
  openProtocol,
  type Protocol,
  purchase,
  refreshFeeds,
} from "../../scripts/local/protocol/actions/index.ts";
import { cast, productNamed, usdc } from "../../scripts/local/seed/cast.ts";
import type { HttpAnswer } from "../support/http.ts";
import { askRpc, type RpcAnswer, type RpcProxy } from "../support/rpc-proxy.ts";
import { failure } from "./support/api.ts";
import { send } from "./support/arrival.ts";
import { blocksOf, fromTheChain, type LiveSetup, startLive } from "./support/live.ts";

let setup: LiveSetup;
let protocol: Protocol;
let proxy: RpcProxy;
beforeAll(async () => {
  setup = await startLive();
  proxy = setup.proxy;
  protocol = openProtocol(setup.chain.deployment, setup.chain.url);
});
afterEach(() => proxy.intercept());

const buyer = cast.bob;
const pathOf = (wallet: string, query = "") => `/api/v1/public/policies/${wallet}${query}`;
const policiesOf = (wallet: string, query = "") => setup.live(pathOf(wallet, query));
/** The same, with the moment at which the api has it. */
const sendFor = (wallet: string, query = "") => send(`${setup.liveUrl}${pathOf(wallet, query)}`);
const bondsOf = (wallet: string) => setup.live(`/api/v1/public/bonds/${wallet}`);
const nextBlock = () => setup.chain.client.mine({ blocks: 1 });
const soon = { timeout: 60_000, interval: 50 };

const scansSeen = () => proxy.counts.get("eth_getLogs") ?? 0;

type HeldLogs = {
  readonly release: () => void;
  /** Scans for this wallet whose first call has come. One that is held for long asks again, for fewer blocks. */
  readonly held: (wallet: string) => number;
  /** Scans of all wallets. */
  readonly scans: () => number;
};

const filterOf = z.tuple([z.object({ address: z.unknown(), topics: z.unknown() })]);

/** Holds every call for logs until it is released. */
function holdLogs(): HeldLogs {
  let release = () => {};
  const held: string[] = [];
  const scans = new Set<string>();
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  proxy.intercept(async (call, forward) => {
    if (blocksOf(call)) {
      held.push(JSON.stringify(call.params).toLowerCase());
      const [{ address, topics }] = filterOf.parse(call.params);
      scans.add(JSON.stringify([address, topics]));
      await gate;
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

describe("one wallet at once", () => {
  test("is scanned once for all who ask, whichever page they want", async () => {
    await policiesOf(buyer.address);
    await nextBlock();
    const { release, held } = holdLogs();
    const queries = ["", "?limit=1", "?limit=2&offset=1"];
    // All of them lie at the api's door before it takes up the first.
    signalPid(setup.livePid, "SIGSTOP");
    const waiting = Array.from({ length: 30 }, (_, i) => sendFor(buyer.address, queries[i % 3]));
    await Promise.all(waiting.map(({ sent }) => sent)).finally(() => signalPid(setup.livePid, "SIGCONT"));
    await Promise.all(waiting.map(({ arrived }) => arrived));
    // Who comes after all of them is at its own scan: so all of them are at theirs.
    const last = anvilAccount(17).address;
    const behind = policiesOf(last);
    await expect.poll(() => held(last), soon).toBeGreaterThan(0);
    expect(held(buyer.address)).toBe(1);
    release();
    const answers = await Promise.all(waiting.map(({ answer }) => answer));
    expect((await behind).status).toBe(200);
    expect(held(buyer.address)).toBe(1);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const alone = await Promise.all(queries.map((query) => policiesOf(buyer.address, query)));
    expect(new Set(alone.map(({ text }) => text)).size).toBe(3);
    expect(answers.map(({ text }) => text)).toEqual(answers.map((_, i) => alone[i % 3]?.text));
  });

  test("is scanned anew once there is another block: a buyer finds what was just bought", async () => {
    const total = async () =>
      z.looseObject({ total: z.int() }).parse((await policiesOf(buyer.address)).json).total;
    const before = await total();
    await refreshFeeds(protocol, cast.owner);
    await purchase(protocol, buyer, productNamed("FLASHBTC1H-001"), usdc(100));
    expect(await total()).toBe(before + 1);
  });

  test("that fails, fails for all who wait, and is scanned anew for the next", async () => {
    await nextBlock();
    proxy.intercept(async (call, forward) =>
      blocksOf(call) ? { error: { code: -32000, message: "no" } } : forward(),
    );
    const answers = await Promise.all(Array.from({ length: 10 }, () => bondsOf(buyer.address)));
    for (const answer of answers) expect(failure(answer)).toEqual([503, "chain_not_found"]);
    proxy.intercept();
    expect((await bondsOf(buyer.address)).status).toBe(200);
  });
});

test("four scans run at once, a fifth wallet is told to come back, and all else goes on", async () => {
  await nextBlock();
  const { release, held, scans } = holdLogs();
  const running: Promise<HttpAnswer>[] = [
    policiesOf(anvilAccount(10).address),
    policiesOf(anvilAccount(11).address),
    bondsOf(anvilAccount(10).address),
    bondsOf(anvilAccount(11).address),
  ];
  await expect.poll(scans, soon).toBe(4);
  const joined = sendFor(anvilAccount(10).address, "?limit=1");
  await joined.arrived;
  // Those that come after it are answered: so it has joined what runs.
  for (const ask of [policiesOf, bondsOf]) {
    const refused = await ask(anvilAccount(12).address);
    expect(failure(refused)).toEqual([503, "scan_busy"]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  }
  expect((await setup.live("/products")).status).toBe(200);
  expect([scans(), held(anvilAccount(12).address)]).toEqual([4, 0]);
  release();
  for (const answer of [...running, joined.answer]) expect((await answer).status).toBe(200);
  expect((await policiesOf(anvilAccount(12).address)).status).toBe(200);
});

describe("a reorganisation in the midst of a scan", () => {
  /** Lets these happen while the node reads logs: one after each call. */
  function meanwhile(...happenings: (() => Promise<RpcAnswer>)[]): void {
    const left = [...happenings];
    proxy.intercept(async (call, forward) => {
      const answer = await forward();
      if (blocksOf(call)) await left.shift()?.();
      return answer;
    });
  }
  /** Remembers the chain; what it returns takes the chain back. */
  async function snapshot(): Promise<() => Promise<RpcAnswer>> {
    const id = await askRpc(setup.chain.url, "evm_snapshot");
    return () => askRpc(setup.chain.url, "evm_revert", ["result" in id ? id.result : null]);
  }

  test("is noticed: the answer is of the chain as it is then", async () => {
    await refreshFeeds(protocol, cast.owner);
    const bought = await purchase(protocol, buyer, productNamed("FLASHBTC1H-001"), usdc(100));
    const { transactionHash } = bought.receipt;
    expect((await policiesOf(buyer.address)).text).toContain(transactionHash);
    await nextBlock();
    meanwhile(() => askRpc(setup.chain.url, "anvil_reorg", [2, []]));
    const before = scansSeen();
    const answer = await policiesOf(buyer.address);
    expect(scansSeen() - before).toBe(2);
    expect(answer.text).not.toContain(transactionHash);
    proxy.intercept();
    await nextBlock();
    await setup.caughtUp();
    const known = await setup.indexed(`/api/v1/policies/by-buyer/${buyer.address}`);
    expect((await policiesOf(buyer.address)).json).toEqual(fromTheChain(known));
  });

  test("that makes the chain shorter is noticed as well", async () => {
    const goBack = await snapshot();
    await refreshFeeds(protocol, cast.owner);
    const { receipt } = await purchase(protocol, buyer, productNamed("FLASHBTC1H-001"), usdc(100));
    meanwhile(goBack);
    const answer = await policiesOf(buyer.address);
    expect([answer.status, answer.text.includes(receipt.transactionHash)]).toEqual([200, false]);
    expect(answer.headers.get("x-chain-block")).toBe(String(await setup.chain.client.getBlockNumber()));
  });

  test("and another one while it starts over is 503", async () => {
    await nextBlock();
    const goBackFar = await snapshot();
    await nextBlock();
    meanwhile(await snapshot(), goBackFar);
    await nextBlock();
    expect(failure(await bondsOf(buyer.address))).toEqual([503, "chain_not_found"]);
    expect((await bondsOf(buyer.address)).status).toBe(200);
  });
});

// The last one: it leaves windows so small that the others could not count them.
test("a node that never answers for logs is 503 in the end, and the next scan finds room again", async () => {
  await nextBlock();
  const wallets = [13, 14, 15, 16].map((index) => anvilAccount(index).address);
  proxy.intercept((call, forward) => (blocksOf(call) ? new Promise(() => {}) : forward()));
  const answers = await Promise.all(wallets.map((wallet) => policiesOf(wallet)));
  for (const answer of answers) expect(failure(answer)).toEqual([503, "chain_not_found"]);
  proxy.intercept();
  await expect.poll(async () => (await policiesOf(buyer.address)).status, soon).toBe(200);
});
