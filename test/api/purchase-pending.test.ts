import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { anvilAccount } from "../../lib/chain/client.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { failure, startApi, type TestApi } from "./support/api.ts";
import { type Buyer, createBuyer, receiptOf } from "./support/buyer.ts";

const WAIT_MS = 1500;

let api: TestApi;
let buyer: Buyer;
beforeAll(async () => {
  api = await startApi({ services: ["api", "writer"], env: { api: { PURCHASE_WAIT_MS: String(WAIT_MS) } } });
  buyer = await createBuyer(api, anvilAccount(2));
});

const purchase = z.object({ state: z.string(), txHash: z.string().nullable() });

/** Runs `act` while the chain accepts transactions but mines no blocks. */
async function withoutBlocks(act: () => Promise<void>): Promise<void> {
  await api.chain.client.setAutomine(false);
  try {
    await act();
  } finally {
    await api.chain.client.setAutomine(true);
    await api.chain.client.mine({ blocks: 1 });
  }
}

test("a purchase still pending after the wait gets 503 with its Location, and is bought once", async () => {
  const key = { "idempotency-key": randomUUID() };
  let address = "";
  await withoutBlocks(async () => {
    for (const _ of ["first", "again"]) {
      const begun = performance.now();
      const answer = await buyer.buy({}, key);
      expect(failure(answer)).toEqual([503, "purchase_pending"]);
      expect(performance.now() - begun).toBeGreaterThanOrEqual(WAIT_MS);
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
      address = answer.headers.get("location") ?? "";
      expect(answer.text).toContain(address);
    }
    const open = await waitFor({
      what: "a signed purchase",
      probe: async () => {
        const { json } = await api.request(address, { headers: buyer.headers });
        const found = purchase.parse(json);
        return found.state === "accepted" ? undefined : found;
      },
    });
    expect(["signed", "broadcast"]).toContain(open.state);
    expect(open.txHash).toMatch(/^0x/);
    // A call without a key joins only purchases without a key.
    expect(failure(await buyer.buy({ coverageAmount: "100000001" }))).toEqual([503, "purchase_pending"]);
  });
  await expect
    .poll(async () => purchase.parse((await api.request(address, { headers: buyer.headers })).json).state, {})
    .toMatch(/mined|confirmed/);
  const replay = await buyer.buy({}, key);
  expect([replay.status, receiptOf(replay).purchaseId]).toEqual([200, address.split("/").at(-1)]);
});

test("without an Idempotency-Key, an identical call joins the pending purchase", async () => {
  const body = { coverageAmount: "123000000" };
  let locations: (string | null)[] = [];
  await withoutBlocks(async () => {
    const answers = await Promise.all([buyer.buy(body), buyer.buy(body), buyer.buy(body)]);
    expect(answers.map(failure)).toEqual(answers.map(() => [503, "purchase_pending"]));
    locations = answers.map((a) => a.headers.get("location"));
  });
  expect(new Set(locations).size).toBe(1);
  const address = locations[0] ?? "";
  await expect
    .poll(async () => purchase.parse((await api.request(address, { headers: buyer.headers })).json).state, {})
    .toMatch(/mined|confirmed/);
  // All three calls got 503: the first repeated call gets the result and spends nothing.
  const retry = await buyer.buy(body);
  expect([retry.status, retry.headers.get("location")]).toEqual([200, address]);
  // A caller has received the result: the next call is another purchase, which may be pending after the short wait.
  const next = await buyer.buy(body);
  if (next.status !== 201) expect(failure(next)).toEqual([503, "purchase_pending"]);
  expect(next.headers.get("location")).toMatch(/^\/api\/v1\/purchases\//);
  expect(next.headers.get("location")).not.toBe(address);
});

test("on SIGTERM the api answers the call in flight with a Location, and exits with code 0", async () => {
  const key = { "idempotency-key": randomUUID() };
  await withoutBlocks(async () => {
    await api.stack.stopService("api");
    const child = await api.stack.start("api");
    const call = buyer.buy({}, key);
    await expect
      .poll(() =>
        api.chain.client.getTransactionCount({ address: api.chain.relayer.address, blockTag: "pending" }),
      )
      .toBeGreaterThan(await api.chain.client.getTransactionCount({ address: api.chain.relayer.address }));
    process.kill(child.pid, "SIGTERM");
    const answer = await call;
    expect(failure(answer)).toEqual([503, "purchase_pending"]);
    expect(answer.headers.get("location")).toMatch(/^\/api\/v1\/purchases\//);
    expect(await child.exited).toEqual({ code: 0, signal: null });
  });
  await api.stack.stopService("api");
  await api.stack.start("api");
  await expect.poll(async () => (await buyer.buy({}, key)).status).toBe(200);
});
