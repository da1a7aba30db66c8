import postgres from "postgres";
import { isAddress } from "viem";
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { anvilAccount } from "../../lib/chain/client.ts";
import {
  onlyEvent,
  purchase,
  pushPrice,
  refreshFeeds,
  trigger,
} from "../../scripts/local/protocol/actions/index.ts";
import { catalogueTerms, type ProductTerms, retiredTerms } from "../../scripts/local/protocol/terms.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { atEnd } from "../support/cleanup.ts";
import { timeTravel } from "../support/protocol-actions.ts";
import { failure, invalidFields, startApi, type TestApi } from "./support/api.ts";
import { createBuyer } from "./support/buyer.ts";
import { priceOfChain } from "./support/live-scan.ts";

const [btc1h, btc24h] = catalogueTerms;
if (!btc1h || !btc24h) throw new Error("the catalogue is empty");
const account = anvilAccount(4);
const HOUR = 3600n;

let api: TestApi;
beforeAll(async () => {
  api = await startApi({ services: ["api", "indexer"], chainOptions: { retired: false } });
  await createBuyer(api, account);
});

const health = z.object({
  status: z.string(),
  lastSyncedBlock: z.string(),
  headBlock: z.string(),
  lagBlocks: z.string(),
});
const indexerHealth = async () => health.parse((await api.request("/api/v1/indexer/health")).json);
const policyOf = (product: ProductTerms, policyId: bigint) =>
  api.request(`/policies/${product.productId}/${policyId}`);
const list = (query = "", address: string = account.address) =>
  api.request(`/api/v1/policies/by-buyer/${address}${query}`);
const page = z.object({
  total: z.number(),
  policies: z.array(z.looseObject({ productId: z.string(), policyId: z.string(), status: z.string() })),
});
const listed = async (query = "") => page.parse((await list(query)).json);

/** Whether a policy is closed or expired: then it is not due, as the contracts tell too. */
const hasEnded = (policy: unknown) =>
  ["Triggered", "Expired"].includes(page.shape.policies.element.parse(policy).status);

/** Waits until the index has reached the chain's newest block. */
async function waitForIndex(): Promise<void> {
  const block = await api.chain.client.getBlockNumber();
  await waitFor({
    what: `the index to reach block ${block}`,
    probe: async () => (BigInt((await indexerHealth()).lastSyncedBlock) >= block ? true : undefined),
  });
}

/** The price of the purchases, and the highest one that triggers a day's cover of BTC. */
const [HIGH, LOW] = [60_000_00000000n, 56_400_00000000n];

const buy = async (product: ProductTerms) =>
  (await purchase(api.protocol, account, product, 100_000_000n)).policyId;

describe("indexed policies", () => {
  test("have the status of the indexed block's time, and the same fields as the contracts", async () => {
    const { protocol, chain } = api;
    const expiring = await buy(btc1h);
    const triggered = await buy(btc24h);
    const due = await buy(btc24h);
    await timeTravel(protocol, 10n);
    const { receipt } = await trigger(protocol, account, btc24h, triggered);
    const other = await buy(retiredTerms);
    await pushPrice(protocol, account, "BTC", LOW);
    await waitForIndex();

    expect((await policyOf(btc1h, expiring)).json).toMatchObject({ status: "Active", source: "index" });
    expect((await policyOf(btc24h, due)).json).toMatchObject({
      ...{ status: "Active", due: true },
      claim: {
        ...{ method: "POST", path: "/api/v1/triggers/prepare" },
        body: { productId: btc24h.productId, policyId: String(due) },
      },
    });
    await pushPrice(protocol, account, "BTC", HIGH);
    await timeTravel(protocol, HOUR + 1n);
    await waitForIndex();
    const { epochId } = onlyEvent(receipt, bondVaultAbi, "BondIssued").args;
    const answers = {
      expiring: await policyOf(btc1h, expiring),
      triggered: await policyOf(btc24h, triggered),
      due: await policyOf(btc24h, due),
      other: await policyOf(retiredTerms, other),
    };
    expect(answers.expiring.json).toMatchObject({ status: "Expired", expired: true, triggered: false });
    expect(answers.triggered.json).toMatchObject({
      status: "Triggered",
      triggered: true,
      expired: false,
      bondId: String(epochId),
      triggeredAt: expect.stringMatching(/^\d+$/),
    });
    expect(answers.other.json).toMatchObject({ status: "Active", productName: null });
    const bitcoin = { currentPrice: `60000${"0".repeat(18)}`, strikePrice: `60000${"0".repeat(18)}` };
    const open = { ...bitcoin, triggerPrice: `56400${"0".repeat(18)}`, distanceToTriggerBps: 600 };
    expect(answers.due.json).toMatchObject({ status: "Active", due: false, claim: null, ...open });
    expect(answers.triggered.json).toMatchObject({ due: false, distanceToTriggerBps: null, ...bitcoin });
    const head = String(await chain.client.getBlockNumber());
    for (const answer of Object.values(answers)) {
      expect(answer.json).toMatchObject({ source: "index", asOfBlock: head, buyer: account.address });
      expect(answer.json).toMatchObject({ waitingEndsAt: null });
      expect(answer.headers.get("x-indexed-block")).toBe(head);
    }

    // Without the index, the contracts give the same policies.
    await api.stack.stopService("indexer");
    for (let i = 0; i < 11; i += 1) await timeTravel(protocol, 1n);
    await expect.poll(async () => (await indexerHealth()).status).toBe("lagging");
    for (const [name, answer] of Object.entries(answers)) {
      const { productId, policyId } = page.shape.policies.element.parse(answer.json);
      const live = await api.request(`/policies/${productId}/${policyId}`);
      const asOfBlock = String(await chain.client.getBlockNumber());
      const { "x-chain-block": block } = Object.fromEntries(live.headers);
      expect([name, live.json], name).toEqual([
        name,
        {
          ...page.shape.policies.element.parse(answer.json),
          source: "chain",
          asOfBlock,
          ...(hasEnded(answer.json) ? {} : { due: null }),
          ...(name === "other" ? priceOfChain : {}),
        },
      ]);
      expect(block).toBe(asOfBlock);
    }
    await refreshFeeds(protocol, account);
    const unseen = await buy(btc1h);
    expect((await policyOf(btc1h, unseen)).json).toMatchObject({ source: "chain", status: "Active" });
    expect(failure(await policyOf(btc1h, unseen + 1n))).toEqual([404, "policy_not_found"]);
    await api.stack.start("indexer");
    await waitForIndex();
    expect((await indexerHealth()).status).toBe("synced");
    expect((await policyOf(btc1h, unseen)).json).toMatchObject({ source: "index", status: "Active" });
  });

  test("of a buyer are listed newest first, in pages, with their total", async () => {
    await waitForIndex();
    const { total, policies } = await listed();
    expect([total, policies.length]).toEqual([5, 5]);
    const keys = policies.map((p) => `${p.productId} ${p.policyId}`);
    expect(policies.map((p) => p.status)).toEqual(["Active", "Active", "Active", "Triggered", "Expired"]);
    const paged = [await listed("?limit=4"), await listed("?limit=4&offset=4")];
    expect(paged.flatMap((p) => p.policies.map((q) => `${q.productId} ${q.policyId}`))).toEqual(keys);
    expect((await listed("?offset=5")).policies).toEqual([]);
    const spellings = [account.address.toLowerCase(), `0x${account.address.slice(2).toUpperCase()}`];
    for (const spelling of spellings) {
      expect((await list("", spelling)).json).toEqual((await list()).json);
    }
    const none = await list("", anvilAccount(15).address);
    expect(none.json).toMatchObject({ count: 0, total: 0, policies: [] });
  });

  test("are never waiting or cancelled: these filters are accepted, and find none", async () => {
    for (const status of ["Waiting", "Cancelled"]) {
      const answer = await api.request(`/api/v1/policies/all?status=${status}`);
      expect([answer.status, answer.json]).toEqual([
        200,
        expect.objectContaining({ count: 0, policies: [] }),
      ]);
    }
  });

  test("appear in the activity feed with their purchases and bonds, newest first", async () => {
    const answer = await api.request("/api/v1/stats/activity");
    const { events, count } = z
      .object({
        count: z.number(),
        events: z.array(z.looseObject({ type: z.string(), block_number: z.string() })),
      })
      .parse(answer.json);
    expect(count).toBe(events.length);
    expect(events.map((e) => e.type).sort()).toEqual([
      "bond_minted",
      ...Array<string>(5).fill("policy_purchased"),
    ]);
    const blocks = events.map((e) => Number(e.block_number));
    expect(blocks).toEqual([...blocks].sort((a, b) => b - a));
    expect(events[0]).toMatchObject({
      type: "policy_purchased",
      actor: account.address,
      amount: "100000000",
      ref: `${btc1h.productId}:2`,
    });
  });
});

test("products, quotes and policies are the same resources under /api/v1, and by-buyer is still a list", async () => {
  await waitForIndex();
  const product = `/products/${btc24h.productId}`;
  const first = `/policies/${btc24h.productId}/1`;
  for (const path of ["/products", product, `${product}/quote?coverageAmount=100000000`, first]) {
    const [bare, prefixed] = [await api.request(path), await api.request(`/api/v1${path}`)];
    expect([bare.status, prefixed.status, prefixed.json], path).toEqual([200, 200, bare.json]);
    expect(prefixed.headers.get("x-indexed-block")).toBe(bare.headers.get("x-indexed-block"));
  }
  for (const [path, status, code] of [
    [`/products/0x${"a".repeat(64)}`, 404, "invalid_product"],
    ["/products/x", 400, "validation_error"],
    [`${product}/quote`, 400, "validation_error"],
    [`/policies/${btc24h.productId}/999`, 404, "policy_not_found"],
    ["/policies/x/1", 400, "validation_error"],
    [`/policies/${btc24h.productId}/x`, 400, "validation_error"],
  ] as const) {
    expect(failure(await api.request(path)), path).toEqual([status, code]);
    expect(failure(await api.request(`/api/v1${path}`)), path).toEqual([status, code]);
  }
  expect((await listed()).total).toBe(5);
  expect(invalidFields(await list("", "1"))).toEqual(["address"]);
});

test("a dropped index is syncing, and no index is unavailable", async () => {
  await api.stack.stopService("indexer");
  const sql = postgres(api.stack.databaseUrl, { max: 1, onnotice: () => {} });
  atEnd(() => sql.end());
  await sql`drop schema indexer cascade`;
  // The launcher has recorded its deployment, but there are no rows: the same state as during a first backfill.
  expect(await indexerHealth()).toMatchObject({ status: "syncing", lastSyncedBlock: "0" });
  const answer = await list();
  expect(failure(answer)).toEqual([503, "indexer_syncing"]);
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  await sql`delete from service.indexer_deployment`;
  expect(failure(await list())).toEqual([503, "indexer_unavailable"]);
  expect(failure(await api.request("/api/v1/indexer/health"))).toEqual([503, "indexer_unavailable"]);
});

test("a policy of an adapter that answers nothing is a contract_mismatch, and the log names the adapter", async () => {
  const { shield } = z
    .object({ shield: z.string().refine((text) => isAddress(text)) })
    .parse((await policyOf(btc1h, 1n)).json);
  await api.chain.client.setCode({ address: shield, bytecode: "0x00" }); // STOP: every call returns nothing
  expect(failure(await policyOf(btc1h, 1n))).toEqual([500, "contract_mismatch"]);
  await expect.poll(() => api.stack.output("api")).toContain(`"address":"${shield}","function":"shield"`);
});
