/** Live scans return the same as the index, or 503, whatever the node's limits are; also under load, and while blocks are replaced. */
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { anvilAccount } from "../../lib/chain/client.ts";
import {
  openProtocol,
  purchase,
  refreshFeeds,
  replaceAdapter,
} from "../../scripts/local/protocol/actions/index.ts";
import { termsOf } from "../../scripts/local/protocol/terms.ts";
import { seedAccounts, usdc } from "../../scripts/local/seed/accounts.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { HttpFault } from "../support/rpc-proxy.ts";
import { failure, invalidFields } from "./support/api.ts";
import { asChainResponse, type LiveScanSetup, logRangeOf, startLiveScan } from "./support/live-scan.ts";
import { liveScanLoad } from "./support/live-scan-load.ts";

let setup: LiveScanSetup;
beforeAll(async () => {
  setup = await startLiveScan();
  await setup.waitForIndex();
});
afterEach(() => setup.proxy.intercept());

const stranger = anvilAccount(19).address;
const wallets = [...Object.values(seedAccounts).map(({ address }) => address), stranger];
const lists = { policies: "/api/v1/policies/by-buyer", bonds: "/api/v1/bonds/by-owner" } as const;
const total = z.looseObject({ total: z.int() });

/** Compares the indexed response with the live scan: same content, same block. @returns the total */
async function compare(kind: "policies" | "bonds", wallet: string, query = ""): Promise<number> {
  const known = await setup.indexed(`${lists[kind]}/${wallet}${query}`);
  const read = await setup.live(`/api/v1/public/${kind}/${wallet}${query}`);
  expect([known.status, read.status], read.text).toEqual([200, 200]);
  expect(read.json, `${kind} of ${wallet} ${query}`).toEqual(asChainResponse(known));
  expect(read.headers.get("x-chain-block")).toBe(known.headers.get("x-indexed-block"));
  expect(read.headers.get("cache-control")).toBe("no-store");
  return total.parse(read.json).total;
}

async function compareAll(): Promise<void> {
  for (const wallet of wallets) {
    await compare("policies", wallet);
    await compare("bonds", wallet);
  }
}

describe("without index and database, a live scan returns the same as the index", () => {
  test("for each wallet of the seeded history, for contracts with bonds in escrow, and for an unused wallet", async () => {
    const { marketplace, bondVault } = setup.chain.deployment.contracts;
    const counts: number[] = [];
    for (const wallet of [...wallets, marketplace, bondVault]) {
      counts.push(await compare("policies", wallet), await compare("bonds", wallet));
    }
    expect(Math.max(...counts)).toBeGreaterThan(5);
    expect(await compare("bonds", marketplace)).toBeGreaterThan(0);
    expect(await compare("policies", stranger)).toBe(0);
  });

  test("on each page, by offset and by cursor, in any spelling of the wallet", async () => {
    const wallet = seedAccounts.bob.address;
    const next = z.looseObject({ nextCursor: z.string().nullable() });
    const count = await compare("policies", wallet);
    let cursor: string | null = "";
    let pages = 0;
    for (; cursor !== null; pages += 1) {
      const query: string = `?limit=2${cursor && `&cursor=${cursor}`}`;
      await compare("policies", wallet, query);
      cursor = next.parse((await setup.live(`/api/v1/public/policies/${wallet}${query}`)).json).nextCursor;
    }
    expect(pages).toBe(Math.ceil(count / 2));
    for (const query of ["?limit=1&offset=1", `?offset=${count - 1}`, `?offset=${count}`, "?cursor=0-0"]) {
      await compare("policies", wallet, query);
    }
    for (const query of ["?limit=1", "?limit=1&offset=1", "?offset=50"]) {
      await compare("bonds", seedAccounts.dave.address, query);
    }
    await compare("policies", wallet.toLowerCase());
    await compare("bonds", `0x${wallet.slice(2).toUpperCase()}`);
  });
});

test.each([
  ["policies/nobody", ["wallet"]],
  ["bonds/0x12", ["wallet"]],
  [`policies/${stranger}?limit=0`, ["limit"]],
  [`policies/${stranger}?limit=101&offset=-1`, ["limit", "offset"]],
  [`policies/${stranger}?cursor=1`, ["cursor"]],
  [`policies/${stranger}?cursor=1-1&offset=1`, ["offset"]],
  [`bonds/${stranger}?limit=x`, ["limit"]],
])("%s gets 400 with the fields %j", async (path, fields) => {
  const answer = await setup.live(`/api/v1/public/${path}`);
  expect(failure(answer)).toEqual([400, "validation_error"]);
  expect(invalidFields(answer)).toEqual(fields);
});

/** Mines a block, so that cached scans of the last block are not used again. */
async function nextBlock(): Promise<void> {
  await setup.chain.client.mine({ blocks: 1 });
  await setup.waitForIndex();
}

/** Scans until the windows have grown to the whole range again. */
const growWindows = () =>
  waitFor({
    what: "scans with one window each",
    probe: async () => {
      const windows: number[] = [];
      setup.proxy.intercept(async (call, forward) => {
        const blocks = logRangeOf(call);
        if (blocks) windows.push(blocks.length);
        return forward();
      });
      await compareAll();
      return new Set(windows).size === 1 || undefined;
    },
  });

describe("a node's limits", () => {
  beforeEach(nextBlock);

  test.each([7, 1])("at most %i blocks per call: the scan uses smaller windows", async (most) => {
    const windows: number[] = [];
    setup.proxy.intercept(async (call, forward) => {
      const blocks = logRangeOf(call);
      if (blocks && blocks.length > most)
        return { error: { code: -32602, message: `block range is too large, maximum ${most}` } };
      if (blocks) windows.push(blocks.length);
      return forward();
    });
    await compare("policies", seedAccounts.bob.address);
    await compare("bonds", seedAccounts.alice.address);
    expect(Math.max(...windows)).toBeLessThanOrEqual(most);
    expect(windows.length).toBeGreaterThan(200 / most);
  });

  test("at most one result per call: the scan uses windows with fewer results", async () => {
    setup.proxy.intercept(async (call, forward) => {
      const answer = await forward();
      const results = logRangeOf(call) && "result" in answer && z.array(z.unknown()).parse(answer.result);
      if (!results || results.length <= 1) return answer;
      return { error: { code: -32005, message: "query returned more than 1 results" } };
    });
    await compareAll();
  });

  test("413 or a dropped connection for large ranges: the scan uses smaller windows", async () => {
    setup.proxy.intercept(async (call, forward) => {
      const { length = 0 } = logRangeOf(call) ?? {};
      if (length > 100) return "lost";
      if (length > 20) throw new HttpFault(413);
      return forward();
    });
    await compare("policies", seedAccounts.bob.address);
    await compare("bonds", seedAccounts.bob.address);
  });

  test("429: the scan retries without making its windows smaller", async () => {
    await growWindows();
    await nextBlock();
    let refusals = 2;
    const windows: number[] = [];
    setup.proxy.intercept(async (call, forward) => {
      const blocks = logRangeOf(call);
      if (!blocks) return forward();
      windows.push(blocks.length);
      refusals -= 1;
      if (refusals >= 0) throw new HttpFault(429);
      return forward();
    });
    await compare("bonds", seedAccounts.alice.address);
    expect(new Set(windows).size).toBe(1);
  });

  test("one error for a single block: the scan retries the block", async () => {
    let refused = false;
    setup.proxy.intercept(async (call, forward) => {
      const blocks = logRangeOf(call);
      if (blocks && blocks.length > 1) return { error: { code: -32000, message: "too many blocks" } };
      if (blocks?.from === 100 && !refused) {
        refused = true;
        return { error: { code: -32000, message: "not now" } };
      }
      return forward();
    });
    await compare("policies", seedAccounts.bob.address);
    expect(refused).toBe(true);
  });
});

describe("a scan that cannot read everything gets 503", () => {
  beforeEach(nextBlock);

  test.each([
    ["an error", { error: { code: -32000, message: "missing trie node" } }],
    ["null", { result: null }],
    ["a log of another contract", { result: [{ topics: [], data: "0x" }] }],
  ])("the node returns %s for one block", async (_, answer) => {
    const { live, proxy } = setup;
    proxy.intercept(async (call, forward) => {
      const blocks = logRangeOf(call);
      return blocks && blocks.from <= 100 && blocks.to >= 100 ? answer : forward();
    });
    for (const kind of ["policies", "bonds"]) {
      const read = await live(`/api/v1/public/${kind}/${seedAccounts.bob.address}`);
      expect(failure(read)).toEqual([503, "chain_not_found"]);
      expect(Number(read.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(read.headers.get("cache-control")).toBe("no-store");
    }
    proxy.intercept();
    await compare("policies", seedAccounts.bob.address);
    await compare("bonds", seedAccounts.bob.address);
  });

  test("the node returns logs, but fails contract calls", async () => {
    setup.proxy.intercept(async (call, forward) =>
      call.method === "eth_call" ? { error: { code: -32000, message: "header not found" } } : forward(),
    );
    for (const kind of ["policies", "bonds"]) {
      const read = await setup.live(`/api/v1/public/${kind}/${seedAccounts.bob.address}`);
      expect(failure(read)).toEqual([503, "chain_not_found"]);
    }
  });

  test.each([
    ["is on another chain", "eth_chainId", "0x1"],
    ["is before the deployment's block", "eth_getBlockByNumber", undefined],
  ])("the node %s, so it would return no logs", async (_, method, result) => {
    setup.proxy.intercept(async (call, forward) => {
      if (call.method !== method) return forward();
      if (result !== undefined) return { result };
      const answer = await forward();
      return "result" in answer
        ? { result: { ...z.looseObject({}).parse(answer.result), number: "0x0" } }
        : answer;
    });
    const read = await setup.live(`/api/v1/public/bonds/${stranger}`);
    expect(failure(read)).toEqual([503, "chain_not_found"]);
  });

  test("the node is down", async () => {
    setup.proxy.intercept(async () => "lost");
    const read = await setup.live(`/api/v1/public/policies/${seedAccounts.bob.address}`);
    expect(failure(read)).toEqual([503, "chain_not_found"]);
  });
});

describe("under load", () => {
  beforeAll(async () => {
    await nextBlock();
    await growWindows();
  });
  liveScanLoad(() => setup);
});

test("policies whose keys come again with a new adapter: each wallet sees its own, as in the index", async () => {
  const { chain } = setup;
  const protocol = openProtocol(chain.deployment, chain.url);
  const btc48 = termsOf("FLASHBTC48-001");
  const { dave, erin, alice, carol } = seedAccounts;
  await replaceAdapter(protocol, chain.owner, btc48);
  await refreshFeeds(protocol, chain.owner);
  // The keys of dave's expired, erin's paid and alice's newest policy; the last of them becomes alice's again.
  for (const buyer of [carol, carol, alice]) await purchase(protocol, buyer, btc48, usdc(111));
  await setup.waitForIndex();
  const statuses = z.object({ policies: z.array(z.object({ productId: z.string(), status: z.string() })) });
  const statusesOf = async ({ address }: { address: string }) => {
    await compare("policies", address);
    const { json } = await setup.live(`/api/v1/public/policies/${address}`);
    return statuses
      .parse(json)
      .policies.filter(({ productId }) => productId === btc48.productId)
      .map(({ status }) => status);
  };
  expect(await statusesOf(dave)).toEqual(["Expired"]);
  expect(await statusesOf(erin)).toEqual(["Triggered"]);
  expect(await statusesOf(alice)).toEqual(["Active", "Expired"]);
  expect(await statusesOf(carol)).toEqual(["Active", "Active"]);
});
