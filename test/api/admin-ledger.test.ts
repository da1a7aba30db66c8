/** The relay ledger as the operator reads it: what is in flight, what waits, what is wrong, and what was spent. */
import { parseEther } from "viem";
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { waitFor } from "../../scripts/local/wait.ts";
import { runLedger, tableOf } from "../scripts/support/ledger-command.ts";
import { startChain } from "../support/chain.ts";
import { newBuyer, openLedger, purchaseRequest, type TestLedger } from "../support/ledger.ts";
import { checkedRequests } from "../support/openapi.ts";
import { type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { startStack } from "../support/stack.ts";
import { admin, issueKey, newWallet } from "./support/api.ts";

/** What a test holds of the stack, each part as its own tests know it. */
async function start() {
  const chain = await startChain({ blockTime: 1, mixedMining: true });
  const rpc: RpcProxy = await startRpcProxy(chain.url);
  const env = { writer: { RPC_URL: rpc.url, GAS_BUDGET_ETH: "7", GAS_BUDGET_PER_WALLET_ETH: "0.25" } };
  const stack = await startStack({ chain, services: ["api", "writer"], env });
  const ledger: TestLedger = await openLedger(chain, { databaseUrl: stack.databaseUrl });
  return { chain, rpc, stack, ledger, request: await checkedRequests(stack.apiUrl) };
}

let setup: Awaited<ReturnType<typeof start>>;
beforeAll(async () => {
  setup = await start();
});

const flight = z.looseObject({ id: z.string().nullable(), nonce: z.string() });
const page = z.looseObject({
  nextCursor: z.string().nullable(),
  inFlight: z.array(flight),
  waiting: z.array(z.looseObject({ id: z.string() })),
  wallets: z.array(z.looseObject({ wallet: z.string() })),
});

async function readLedger(query = "") {
  const answer = await setup.request(`/api/v1/admin/ledger${query}`, { headers: admin });
  expect(answer.status, answer.text).toBe(200);
  expect(answer.text).not.toContain('"signed":');
  return page.parse(answer.json);
}

/** Keeps nodes from taking transactions while `act` runs. */
async function withFullPool(act: () => Promise<void>): Promise<void> {
  setup.rpc.intercept((call, forward) =>
    call.method === "eth_sendRawTransaction"
      ? Promise.resolve({ error: { code: -32000, message: "the pool is full" } })
      : forward(),
  );
  await act();
  setup.rpc.intercept();
}

test("transactions in flight have their fees and what they are for, in pages; what waits, waits apart", async () => {
  const { chain, ledger, rpc } = setup;
  const { address } = await newBuyer(chain);
  const wallet = chain.relayer.address;
  const ids: string[] = [];
  let waiting = "";
  await withFullPool(async () => {
    for (const key of ["first", "second", "third"]) {
      const id = await ledger.buy(purchaseRequest(address), key);
      await ledger.inState(id, "signed");
      ids.push(id);
    }
    rpc.intercept(async () => "lost");
    waiting = await ledger.buy(purchaseRequest(address), "waiting");

    const all = await readLedger();
    expect(all.inFlight).toEqual(
      ids.map((id, nonce) => ({
        ...{ chainId: 8453, wallet, nonce: String(nonce), kind: "purchase", state: "signed" },
        ...{ purpose: null, id, cancels: false },
        ageSeconds: expect.any(Number),
        attempts: expect.any(Number),
        maxFeePerGas: expect.any(String),
        maxPriorityFeePerGas: expect.any(String),
        lastSentSeconds: expect.any(Number),
      })),
    );
    // The writer may have raised a fee since.
    const forms = await ledger.connection.sql<{ id: string; most: string; tip: string }[]>`
      select t.intent as id, a.max_fee as most, a.priority_fee as tip
      from service.transaction t join service.attempt a on a.transaction_id = t.id`;
    for (const { id, maxFeePerGas: most, maxPriorityFeePerGas: tip } of all.inFlight) {
      expect(forms).toContainEqual({ id, most, tip });
    }
    expect(all).toMatchObject({ count: 3, limit: 50, nextCursor: null, waitingTotal: 1 });
    expect(all.waiting).toMatchObject([{ id: waiting, purpose: null, wallet: address }]);
    expect(all.wallets).toMatchObject([
      { wallet, role: "relayer", inFlight: 3, nextNonce: "3", unknownTransactions: 0, abandoned: false },
    ]);

    const paged: (string | null)[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const next = await readLedger(`?limit=1${cursor && `&cursor=${cursor}`}`);
      expect(next.inFlight).toHaveLength(1);
      paged.push(...next.inFlight.map(({ id }) => id));
      cursor = next.nextCursor;
    }
    expect(paged).toEqual(ids);
    expect(await readLedger("?minAge=3600")).toMatchObject({ inFlight: [], waiting: [], waitingTotal: 1 });
  });
  for (const id of [...ids, waiting]) await ledger.settled(id);
});

test("gas, premiums and budgets of the day are those of the ledger and of the writer's configuration", async () => {
  const { chain, ledger, request } = setup;
  const { address } = await newBuyer(chain);
  const { keyId, headers } = await issueKey(request, address);
  const body = { productName: "FLASHBTC1H-001", coverageAmount: "100000000", buyer: address };
  const bought = await request("/api/v1/policies", { headers, body });
  const { premiumPaid } = z.object({ premiumPaid: z.string() }).parse(bought.json);

  const found = await waitFor({
    what: "nothing in flight",
    probe: async () => {
      const facts = await readLedger();
      return facts.inFlight.length === 0 && JSON.stringify(facts).includes(`"keyId":"${keyId}"`)
        ? facts
        : undefined;
    },
  });
  const { sql } = ledger.connection;
  const [all] = await sql<{ gas: string; mined: number }[]>`
    select sum(gas_cost) as gas, count(*)::int as mined from service.transaction
    where created_at >= date_trunc('day', now() at time zone 'utc') at time zone 'utc'`;
  const [own] = await sql<{ gas: string }[]>`
    select t.gas_cost as gas from service.transaction t join service.purchase p on p.id = t.intent where p.key_id = ${keyId}`;
  const [day] = await sql<{ wei: string }[]>`
    select sum(wei) as wei from service.gas_day where wallet = '' and day = (now() at time zone 'utc')::date`;
  expect(found).toMatchObject({
    spendingByWallet: [
      { wallet: chain.relayer.address, role: "relayer", transactions: all?.mined, gas: all?.gas, sent: "0" },
    ],
    gas: [
      {
        ...{ chainId: 8453, of: "others", spent: day?.wei },
        ...{ budget: String(parseEther("7")), budgetPerClient: String(parseEther("0.25")) },
      },
    ],
  });
  expect(found.spendingByKey).toContainEqual({
    ...{ keyId: String(keyId), wallet: address, label: null, purchases: 1, reverted: 0 },
    ...{ gas: own?.gas, premiums: premiumPaid },
  });
  const { said } = await runLedger(setup.stack.databaseUrl);
  expect(tableOf(said, "Gas of this UTC day")).toMatch(/8453 +all others +0\.\d+ +7\.000000 +0\.250000/);
});

test("wallets that nobody sends from, lack transactions or cannot sign say so; so do gaps, paused clients and the keeper", async () => {
  const { sql } = setup.ledger.connection;
  const [left, client] = [newWallet(), newWallet()];
  await sql`
    insert into service.relayer_wallet
      (chain_id, address, role, next_nonce, lease_until, fault, unknown_from, unknown_below, unknown_since)
    values (1, ${left.toLowerCase()}, 'keeper', 9, now() - interval '5 minutes', 'it has no ether', 9, 11, now())`;
  for (const [nonce, age] of [
    [4, 10],
    [6, 90],
  ] as const) {
    await sql`
      insert into service.transaction (chain_id, wallet, nonce, kind, "to", data, gas_limit, opened_at)
      values (1, ${left.toLowerCase()}, ${nonce}, 'filler', ${left.toLowerCase()}, '0x', 21000,
        now() - make_interval(mins => ${age}))`;
  }
  for (const id of [1, 2, 3]) {
    await sql`insert into service.buyer_revert values (${-id}, ${client.toLowerCase()})`;
  }
  await sql`
    insert into service.keeper_task (chain_id, purpose, product_id, policy_id, failures, failure)
    values (1, 'queue', '', 5, 2, 'the vault is empty')`;
  await sql`insert into service.keeper_watch values (1, 100, 200, now() - interval '1 hour'), (1, 300, 400, now())`;
  await sql`
    insert into service.service_transaction
      (chain_id, sender, purpose, "to", data, value, failure_code, failure_message, refused_at)
    values (1, ${left.toLowerCase()}, 'keeper_trigger', ${left.toLowerCase()}, '0x', 0, 'onchain_revert', 'too late', now())`;
  await sql`insert into service.stop (scope, subject, reason) values ('keeper', '', 'test')`;

  const found = await readLedger();
  expect(found.wallets.find(({ wallet }) => wallet === left)).toEqual({
    ...{ chainId: 1, wallet: left, role: "keeper", nextNonce: "9", inFlight: 2, unknownTransactions: 2 },
    ...{ abandoned: true, stoppedBy: "keeper", fault: "it has no ether", writer: null },
    oldestSeconds: expect.any(Number),
  });
  expect(found).toMatchObject({
    inFlight: [
      { nonce: "6", kind: "filler", state: null, id: null, attempts: 0, maxFeePerGas: null },
      { nonce: "4", lastSentSeconds: null },
    ],
    nonceGaps: [{ chainId: 1, wallet: left, nonce: "5" }],
    pausedClients: [{ wallet: client, until: expect.stringMatching(/Z$/) }],
    failed: [{ purpose: "keeper_trigger", code: "onchain_revert", message: "too late", txHash: null }],
    keeper: {
      failedTasks: [{ purpose: "queue", productId: null, policyId: "5", failures: 2 }],
      absences: [{ from: "1970-01-01T00:03:20.000Z", to: "1970-01-01T00:05:00.000Z" }],
    },
  });
  const { said } = await runLedger(setup.stack.databaseUrl);
  expect(tableOf(said, "Wallets")).toContain("it has no ether");
});
