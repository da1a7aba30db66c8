/**
 * Two writers with the same keys. What this proves: one of them at a time owns the wallets, a writer that was suspended
 * during a takeover cannot sign under its old lease, one that reaches the database but not the chain leaves the wallets to the
 * other, and a hundred purchases at once buy a hundred policies.
 */
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
  signedForms,
  type TestLedger,
} from "../support/ledger.ts";
import { type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { expectOneNonceEach } from "./support/assertions.ts";

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

/** Waits until one of the two writers owns both wallets. Resolves to its index. */
async function ownerOf(): Promise<0 | 1> {
  return waitFor({
    what: "one writer to own the wallets",
    probe: async () => {
      const pids = await ledger.connection.sql<{ pid: string }[]>`
        select distinct split_part(lease_owner, '-', -2) as pid from service.relayer_wallet`;
      const [pid, ...others] = pids.map((row) => Number(row.pid));
      const index = writers.findIndex((writer) => writer.pid === pid);
      return others.length === 0 && (index === 0 || index === 1) ? index : undefined;
    },
  });
}

async function expectOnePolicyEach(ids: readonly string[], buyer: `0x${string}`): Promise<void> {
  const settled = await Promise.all(ids.map((id) => ledger.settled(id)));
  const policies = await policiesOnChain(chain, buyer);
  const receipts = settled.map((purchase) =>
    "receipt" in purchase ? purchase.receipt.txHash : purchase.state,
  );
  expect(receipts.toSorted()).toEqual(policies.map((policy) => policy.transactionHash).toSorted());
  expect(policies).toHaveLength(ids.length);
  const gaps = await ledger.connection.sql`
    select address from service.relayer_wallet w
    where next_nonce <> (select count(*) from service.transaction t where t.wallet = w.address)`;
  expect(gaps).toEqual([]);
}

test("a hundred purchases at once buy a hundred policies, from both wallets", async () => {
  const buyer = await newBuyer(chain);
  const request = purchaseRequest(buyer.address);
  const ids = await Promise.all(Array.from({ length: 100 }, (_, n) => ledger.buy(request, `hundred-${n}`)));
  expect(new Set(ids).size).toBe(100);
  await expectOnePolicyEach(ids, buyer.address);
  const used = await ledger.connection.sql`select wallet from service.transaction group by wallet`;
  expect(used).toHaveLength(2);
});

test("a hundred calls at once with one key buy one policy", async () => {
  const buyer = await newBuyer(chain);
  const request = purchaseRequest(buyer.address);
  const ids = await Promise.all(Array.from({ length: 100 }, () => ledger.buy(request, "the-same")));
  const [id, ...others] = new Set(ids);
  expect(others).toEqual([]);
  await expectOnePolicyEach([String(id)], buyer.address);
});

test("the owner is suspended before signing and the other writer takes over: bought once", async () => {
  const owner = await ownerOf();
  const [proxy, writer] = [proxies[owner], writers[owner]];
  const buyer = await newBuyer(chain);
  const request = purchaseRequest(buyer.address);
  // Holds the owner's simulations, so that it is suspended between simulation and signature.
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
  const ids = await Promise.all(Array.from({ length: 10 }, (_, n) => ledger.buy(request, `suspended-${n}`)));
  await waitFor({
    what: "the owner to simulate",
    probe: () => (holding > 0 ? true : undefined),
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
  });
  process.kill(writer.pid, "SIGCONT");
  await expectOnePolicyEach(ids, buyer.address);
  proxy.intercept();
  const signedBy = await ledger.connection.sql<{ token: string }[]>`
    select distinct fencing_token as token from service.attempt a join service.transaction t on t.id = a.transaction_id
    where t.intent = any(${ids}::uuid[])`;
  // Every signature has the new owner's fencing token: the suspended writer signed nothing.
  const tokens = await ledger.connection.sql<{ token: string }[]>`
    select distinct fencing_token as token from service.relayer_wallet`;
  expect(tokens.map((row) => row.token)).toEqual(expect.arrayContaining(signedBy.map((row) => row.token)));
});

test("the owner is suspended while it broadcasts, and its transactions arrive late: bought once, under the stored nonces", async () => {
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
    late += 1;
    await held;
    return forward();
  });
  const ids = await Promise.all(
    Array.from({ length: 6 }, (_, n) => ledger.buy(purchaseRequest(buyer.address), `mid-send-${n}`)),
  );
  await waitFor({
    what: "all six to be signed, and a broadcast",
    probe: async () =>
      (late > 0 && (await signedForms(ledger.connection, ...ids)).length >= ids.length) || undefined,
  });
  // Before it gets an answer to any broadcast. Suspended earlier, it could hold a lock in the middle of a transaction.
  process.kill(writer.pid, "SIGSTOP");
  await waitFor({
    what: "the other writer to take the wallets over",
    probe: async () => ((await ownerOf()) === owner ? undefined : true),
  });
  release();
  process.kill(writer.pid, "SIGCONT");
  await expectOnePolicyEach(ids, buyer.address);
  // The mined transactions are the suspended writer's: the other one takes no new nonces for them.
  await expectOneNonceEach(ledger.connection, ids, await policiesOnChain(chain, buyer.address));
  proxy.intercept();
});

test("a writer without a node gives up its wallets, and the other writer buys", async () => {
  const owner = await ownerOf();
  const buyer = await newBuyer(chain);
  const buy = (key: string) => ledger.buy(purchaseRequest(buyer.address), key);
  const ids = [await buy("before")];
  await Promise.all(ids.map((id) => ledger.settled(id)));
  // The owner no longer reaches its node.
  proxies[owner].intercept(async () => "lost");
  for (let n = 0; n < 5; n += 1) ids.push(await buy(`after-${n}`));
  await waitFor({
    what: "the other writer to take the wallets over",
    probe: async () => ((await ownerOf()) === owner ? undefined : true),
  });
  await expectOnePolicyEach(ids, buyer.address);

  proxies[owner].intercept();
  ids.push(await buy("back"));
  await expectOnePolicyEach(ids, buyer.address);
});

test("the owner shuts down: the other writer sends from its wallets at once", async () => {
  const owner = await ownerOf();
  await stacks[owner].stopService("writer");
  // No lease has to expire: the owner has released its wallets.
  const kept = await ledger.connection.sql`
    select 1 from service.relayer_wallet
    where split_part(lease_owner, '-', -2) = ${String(writers[owner].pid)} and lease_until > now()`;
  expect(kept).toEqual([]);
  const buyer = await newBuyer(chain);
  const id = await ledger.buy(purchaseRequest(buyer.address));
  await ledger.settled(id);
  await expectOnePolicyEach([id], buyer.address);
});
