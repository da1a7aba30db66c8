/**
 * Two writers with the same key. What this proves: one of them owns the wallet at a time, a writer that was asleep while
 * the other took over cannot sign under its old lease, and a hundred purchases at once are a hundred policies.
 */
import type { Hex } from "viem";
import { beforeAll, expect, test } from "vitest";
import { anvilAccount } from "../../lib/chain/client.ts";
import { privateKeyOf } from "../../scripts/local/anvil.ts";
import type { Child } from "../../scripts/local/processes.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import {
  isSimulation,
  newBuyer,
  openLedger,
  policiesOnChain,
  purchaseRequest,
  type TestLedger,
} from "../support/ledger.ts";
import { type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { type Stack, startStack } from "../support/stack.ts";

const wallets = [anvilAccount(1), anvilAccount(2)] as const;

let chain: TestChain;
let proxies: [RpcProxy, RpcProxy];
let stacks: [Stack, Stack];
let writers: [Child, Child];
let ledger: TestLedger;

beforeAll(async () => {
  chain = await startChain({ blockTime: 1, mixedMining: true, relayers: wallets });
  proxies = [await startRpcProxy(chain.url), await startRpcProxy(chain.url)];
  const common = { chain, services: [], relayerKeys: wallets.map(privateKeyOf) };
  const first = await startStack({ ...common, rpcUrl: proxies[0].url });
  const second = await startStack({ ...common, rpcUrl: proxies[1].url, databaseUrl: first.databaseUrl });
  stacks = [first, second];
  ledger = await openLedger(chain, { databaseUrl: first.databaseUrl });
  writers = [await first.start("writer"), await second.start("writer")];
});

/** Which of the two writers owns both wallets; it waits until one does. */
async function ownerOf(): Promise<0 | 1> {
  return waitFor({
    what: "one writer to own the wallets",
    probe: async () => {
      const pids = await ledger.connection.sql<{ pid: string }[]>`
        select distinct split_part(lease_owner, '-', 2) as pid from service.relayer_wallet`;
      const [pid, ...others] = pids.map((row) => Number(row.pid));
      const index = writers.findIndex((writer) => writer.pid === pid);
      return others.length === 0 && (index === 0 || index === 1) ? index : undefined;
    },
    timeoutMs: 60_000,
  });
}

async function expectAllOnce(ids: readonly string[], buyer: `0x${string}`): Promise<void> {
  const settled = await Promise.all(ids.map((id) => ledger.settled(id, 90_000)));
  const policies = await policiesOnChain(chain, buyer);
  const claimed = settled.map((purchase) =>
    "receipt" in purchase ? purchase.receipt.txHash : purchase.state,
  );
  expect(claimed.toSorted()).toEqual(policies.map((policy) => policy.transactionHash).toSorted());
  expect(policies).toHaveLength(ids.length);
  const gaps = await ledger.connection.sql`
    select address from service.relayer_wallet w
    where next_nonce <> (select count(*) from service.transaction t where t.wallet = w.address)`;
  expect(gaps).toEqual([]);
}

test("a hundred purchases at once are a hundred policies, from both wallets", async () => {
  const buyer = await newBuyer(chain);
  const request = purchaseRequest(buyer.address);
  const ids = await Promise.all(Array.from({ length: 100 }, (_, n) => ledger.buy(request, `hundred-${n}`)));
  expect(new Set(ids).size).toBe(100);
  await expectAllOnce(ids, buyer.address);
  const used = await ledger.connection.sql`select wallet from service.transaction group by wallet`;
  expect(used).toHaveLength(2);
});

test("a hundred calls with one key at once are one policy", async () => {
  const buyer = await newBuyer(chain);
  const request = purchaseRequest(buyer.address);
  const ids = await Promise.all(Array.from({ length: 100 }, () => ledger.buy(request, "the-same")));
  const [id, ...others] = new Set(ids);
  expect(others).toEqual([]);
  await expectAllOnce([String(id)], buyer.address);
});

test("the owner falls asleep with a purchase in its hands and the other takes over: bought once", async () => {
  const owner = await ownerOf();
  const [proxy, writer] = [proxies[owner], writers[owner]];
  const buyer = await newBuyer(chain);
  const request = purchaseRequest(buyer.address);
  // The owner's simulations are held up, so that it sleeps between them and the signature.
  let release: () => void = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let holding = 0;
  proxy.intercept(async (call, forward) => {
    if (!isSimulation(call)) return forward();
    holding += 1;
    const answer = await forward();
    await held;
    return answer;
  });
  const ids = await Promise.all(Array.from({ length: 10 }, (_, n) => ledger.buy(request, `asleep-${n}`)));
  await waitFor({
    what: "the owner to simulate",
    probe: () => (holding > 0 ? true : undefined),
    timeoutMs: 60_000,
  });
  process.kill(writer.pid, "SIGSTOP");
  const [before] = await ledger.connection.sql<{ owner: string }[]>`
    select lease_owner as owner from service.relayer_wallet order by address`;
  release();
  await waitFor({
    what: "the other writer to take the wallets over",
    probe: async () => {
      const rows = await ledger.connection.sql<
        { owner: string }[]
      >`select lease_owner as owner from service.relayer_wallet`;
      return rows.every((row) => row.owner !== before?.owner) ? true : undefined;
    },
    timeoutMs: 60_000,
  });
  process.kill(writer.pid, "SIGCONT");
  await expectAllOnce(ids, buyer.address);
  proxy.intercept();
  const signedBy = await ledger.connection.sql<{ token: string }[]>`
    select distinct fencing_token as token from service.attempt a join service.transaction t on t.id = a.transaction_id
    where t.purchase_id = any(${ids}::uuid[])`;
  // Whatever the sleeper had in hand, only the lease that was valid then has signed.
  const tokens = await ledger.connection.sql<{ token: string }[]>`
    select distinct fencing_token as token from service.relayer_wallet`;
  expect(tokens.map((row) => row.token)).toEqual(expect.arrayContaining(signedBy.map((row) => row.token)));
});

test("the owner falls asleep in the middle of a send, and what it sent arrives late: bought once, by the stored bytes", async () => {
  const owner = await ownerOf();
  const [proxy, writer] = [proxies[owner], writers[owner]];
  const buyer = await newBuyer(chain);
  let release: () => void = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let late = 0;
  proxy.intercept(async (call, forward) => {
    if (call.method !== "eth_sendRawTransaction") return forward();
    // Asleep before it can learn anything of what it sends.
    if (late === 0) process.kill(writer.pid, "SIGSTOP");
    late += 1;
    await held;
    return forward();
  });
  const ids = await Promise.all(
    Array.from({ length: 6 }, (_, n) => ledger.buy(purchaseRequest(buyer.address), `mid-send-${n}`)),
  );
  await waitFor({
    what: "the other writer to take the wallets over",
    probe: async () => ((await ownerOf()) === owner ? undefined : true),
    timeoutMs: 60_000,
  });
  const signed = await ledger.connection.sql<{ hash: string }[]>`
    select hash from service.attempt a join service.transaction t on t.id = a.transaction_id
    where t.purchase_id = any(${ids}::uuid[])`;
  release();
  process.kill(writer.pid, "SIGCONT");
  await expectAllOnce(ids, buyer.address);
  expect(late).toBeGreaterThan(0);
  const mined = new Set(
    (await policiesOnChain(chain, buyer.address)).map((policy) => policy.transactionHash),
  );
  // What the sleeper had signed is what was mined: nobody signs anew for doubt.
  expect(signed.filter(({ hash }) => mined.has(hash as Hex))).toHaveLength(signed.length);
  proxy.intercept();
});

test("the owner is told to stop: the other sends from its wallets at once", async () => {
  const owner = await ownerOf();
  await stacks[owner].stopService("writer");
  // Nothing has to lapse: it has given its wallets back.
  const kept = await ledger.connection.sql`
    select 1 from service.relayer_wallet
    where split_part(lease_owner, '-', 2) = ${String(writers[owner].pid)} and lease_until > now()`;
  expect(kept).toEqual([]);
  const buyer = await newBuyer(chain);
  const id = await ledger.buy(purchaseRequest(buyer.address));
  await ledger.settled(id, 60_000);
  await expectAllOnce([id], buyer.address);
});
