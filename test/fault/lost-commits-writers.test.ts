/**
 * A database that has lost its last commits while more than its own count is stale: the wallet is another writer's, or the node is
 * behind. What this proves, checked on the chain: no other wallet buys what was bought already.
 */
import { beforeAll, beforeEach, expect, test } from "vitest";
import { anvilAccount } from "../../lib/chain/client.ts";
import { lower } from "../../lib/lower.ts";
import { privateKeyOf } from "../../scripts/local/anvil.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import {
  newBuyer,
  openLedger,
  policiesOnChain,
  purchaseRequest,
  signedForms,
  type TestLedger,
} from "../support/ledger.ts";
import { type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { loseSignatures } from "./support/lose-commits.ts";
import { nodeAsOf } from "./support/stale-node.ts";

const wallets = [anvilAccount(1), anvilAccount(2)] as const;
const [first] = wallets;

let chain: TestChain;
/** The node of the second writer. */
let proxy: RpcProxy;
/** A writer that has the first wallet's key alone, and one that has both. */
let stacks: [Stack, Stack];
let ledger: TestLedger;

beforeAll(async () => {
  chain = await startChain({ blockTime: 1, mixedMining: true, relayers: wallets });
  proxy = await startRpcProxy(chain.url);
  const stack = await startStack({ chain, services: ["writer"], relayerKeys: [privateKeyOf(first)] });
  const { databaseUrl } = stack;
  const both = { relayerKeys: wallets.map(privateKeyOf), rpcUrl: proxy.url };
  ledger = await openLedger(chain, { databaseUrl });
  stacks = [stack, await startStack({ chain, databaseUrl, services: ["writer"], ...both })];
});
beforeEach(() => proxy.intercept());

const ofFirst = { address: lower(first.address) };
const unknown = () => ledger.connection.sql<{ address: string }[]>`
  select address from service.relayer_wallet where unknown_from is not null`;

/** A purchase that the first wallet has bought: the other one is stopped meanwhile. */
async function buyFromFirst() {
  const { sql } = ledger.connection;
  const buyer = await newBuyer(chain);
  await sql`insert into service.stop (scope, subject, reason) values ('wallet', ${lower(wallets[1].address)}, 'test')`;
  const id = await ledger.buy(purchaseRequest(buyer.address));
  const purchase = await ledger.settled(id);
  if (purchase.state !== "mined" && purchase.state !== "confirmed") throw new Error(purchase.state);
  await sql`delete from service.stop`;
  const expectOnePolicy = async () => {
    await ledger.settled(id);
    expect(await policiesOnChain(chain, buyer.address)).toMatchObject([
      { transactionHash: purchase.receipt.txHash },
    ]);
    await expect.poll(unknown).toEqual([]);
  };
  return { id, block: purchase.receipt.blockNumber, expectOnePolicy };
}

test("a failover loses the commits of a writer that died with it: the other writer, with another wallet, buys nothing twice", async () => {
  const { sql } = ledger.connection;
  const { id, expectOnePolicy } = await buyFromFirst();
  await stacks[0].kill9("writer");
  // The dead writer's lease lasts until its wallet was compared.
  await sql`update service.relayer_wallet set lease_until = now() + interval '1 hour' where address = ${ofFirst.address}`;
  await loseSignatures(sql, [id]);
  const signed = () => signedForms(ledger.connection, id);
  await expect.poll(async () => [...(await unknown()), ...(await signed())]).not.toEqual([]);
  expect(await signed()).toEqual([]);
  expect(await unknown()).toEqual([ofFirst]);
  await sql`update service.relayer_wallet set lease_until = now() where address = ${ofFirst.address}`;
  await expectOnePolicy();
});

/** Waits for several rounds of the recovery and of the wallets' leases, which sign nothing and find nothing. */
async function expectNothingSigned(id: string): Promise<void> {
  const counted = () => proxy.counts.get("eth_getTransactionCount") ?? 0;
  const before = counted();
  await expect.poll(() => counted() - before).toBeGreaterThan(10);
  expect(await signedForms(ledger.connection, id)).toEqual([]);
  expect(await unknown()).toEqual([]);
}

test("commits are lost under a writer with two wallets, and its node is behind: the other wallet buys nothing twice", async () => {
  // Then the second writer has both wallets.
  await stacks[0].stopService("writer");
  const { id, block, expectOnePolicy } = await buyFromFirst();
  proxy.intercept(nodeAsOf(block - 1n));
  await loseSignatures(ledger.connection.sql, [id]);
  await expectNothingSigned(id);
  proxy.intercept();
  await expectOnePolicy();
});

test("a failover loses commits while the writer is down, and its node is behind: the other wallet buys nothing twice", async () => {
  await stacks[0].stopService("writer");
  const { id, block, expectOnePolicy } = await buyFromFirst();
  await stacks[1].stopService("writer");
  await loseSignatures(ledger.connection.sql, [id]);
  proxy.intercept(nodeAsOf(block - 1n));
  await stacks[1].start("writer");
  await expectNothingSigned(id);
  proxy.intercept();
  await expectOnePolicy();
});
