/**
 * A backup is taken under a living chain, and restored five minutes later, after the database was lost. What this proves, checked on
 * the chain: nothing is signed before the operator opens the service, each transaction since the backup is matched to its purchase or
 * waits for the operator, and nothing is bought twice, also by a wallet that the backup does not know.
 */
import { join } from "node:path";
import type { LocalAccount } from "viem";
import { beforeAll, expect, inject, test } from "vitest";
import { anvilAccount } from "../../lib/chain/client.ts";
import { privateKeyOf } from "../../scripts/local/anvil.ts";
import { FENCE } from "../../workers/ledger/fillers.ts";
import { runLedger, tableOf } from "../scripts/support/ledger-command.ts";
import { mineEverySecond, mineNothing, startChain, type TestChain } from "../support/chain.ts";
import { runCommand } from "../support/command.ts";
import { freshDatabase } from "../support/database.ts";
import { newBuyer, openLedger, policiesOnChain, purchaseRequest } from "../support/ledger.ts";
import { dropDatabase } from "../support/postgres-databases.ts";
import { startStack } from "../support/stack.ts";
import { ageRows } from "./support/age-rows.ts";

const relayers = [anvilAccount(1), anvilAccount(2)] as const;
const env = { writer: { CONFIRMATIONS: "3" } };
/** The age of the backup when it is restored, in seconds; nobody waits: its rows are older, and the chain mines that many blocks. */
const AGE = 300;
/** After the restore, what was accepted before the backup has waited too long to be signed, or to be mined. */
const restoredEnv = { writer: { ...env.writer, PURCHASE_TTL: String(AGE - 60) } };

let chain: TestChain;
const policyCount = async (buyers: readonly LocalAccount[]) =>
  (await Promise.all(buyers.map(({ address }) => policiesOnChain(chain, address)))).flat().length;
const sentByRelayers = () =>
  Promise.all(relayers.map(({ address }) => chain.client.getTransactionCount({ address })));
const keysOf = (buyer: LocalAccount, count: number) =>
  Array.from({ length: count }, (_, n) => `${buyer.address}-${n}`);

beforeAll(async () => {
  const timestamp = BigInt(Math.floor(Date.now() / 1000) - AGE);
  chain = await startChain({ blockTime: 1, mixedMining: true, relayers, timestamp });
});

test("a restored backup stays closed until the operator opens it, and buys nothing twice", async () => {
  const first = await startStack({ chain, services: ["api", "writer"], env });
  const before = await openLedger(chain, { databaseUrl: first.databaseUrl });
  const [old, waiting, later, without] = [
    await newBuyer(chain),
    await newBuyer(chain),
    await newBuyer(chain),
    await newBuyer(chain, { approve: false }),
  ];
  await before.settled(await before.buy(purchaseRequest(old.address), "old"));

  // As of the backup: one transaction in flight, and three purchases without one.
  await mineNothing(chain);
  const inFlight = await before.buy(purchaseRequest(old.address), "in flight");
  await before.inState(inFlight, "broadcast");
  await first.stopService("writer");
  const unsigned = [];
  for (const key of keysOf(waiting, 2))
    unsigned.push(await before.buy(purchaseRequest(waiting.address), key));
  const neverSigned = await before.buy(purchaseRequest(without.address), "never signed");
  const { sql } = before.connection;
  const file = join(inject("runFolder"), "service.backup");
  await ageRows(sql, AGE);
  const backup = await runCommand(["scripts/start.mjs", "backup", file], { DATABASE_URL: first.databaseUrl });
  await ageRows(sql, -AGE);
  expect(backup).toMatchObject({ code: 0, said: expect.stringContaining(file) });

  // After it: those are bought, one is refused, and a client buys four more; by a new wallet, too.
  await mineEverySecond(chain);
  const { databaseUrl } = first;
  const keys = relayers.map(privateKeyOf);
  const second = await startStack({ chain, services: ["writer"], databaseUrl, relayerKeys: keys, env });
  for (const id of [inFlight, ...unsigned]) expect(await before.settled(id)).toHaveProperty("receipt");
  expect(await before.settled(neverSigned)).toMatchObject({ state: "failed" });
  for (const key of keysOf(later, 4)) {
    const lost = await before.settled(await before.buy(purchaseRequest(later.address), key));
    expect(lost).toHaveProperty("receipt");
  }
  const sent = await sentByRelayers();
  expect(sent[1]).toBeGreaterThan(0);

  await Promise.all([first.stop(), second.stop()]);
  await dropDatabase(inject("postgresUrl"), new URL(databaseUrl).pathname.slice(1));
  await chain.client.mine({ blocks: AGE, interval: 1 });
  const restoredUrl = await freshDatabase({ empty: true });
  const chainEnv = { RPC_URL: chain.url, DEPLOYMENT_FILE: chain.deploymentFile, CONFIRMATIONS: "3" };
  const restore = await runCommand(["scripts/start.mjs", "restore", file], {
    DATABASE_URL: restoredUrl,
    ...chainEnv,
  });
  expect(restore, restore.said).toMatchObject({ code: 0, said: expect.stringContaining("resume global") });
  const unknown = tableOf(restore.said, "On the chain, unknown to the ledger");
  expect(unknown.match(/ buys /g)).toHaveLength(4);
  expect(unknown.match(new RegExp(`buys .*${later.address}`, "g"))).toHaveLength(4);
  const lost = tableOf(restore.said, "Accepted, without a transaction");
  expect(lost.match(/purchase \S+/g)).toEqual([`purchase ${neverSigned}`]);
  expect(Number(/(\d+) min/.exec(lost)?.[1])).toBeGreaterThanOrEqual(AGE / 60);

  // Closed: what the chain has is settled, and nothing is accepted or signed.
  const stack = await startStack({
    chain,
    services: ["api", "writer"],
    databaseUrl: restoredUrl,
    relayerKeys: keys,
    env: restoredEnv,
  });
  const after = await openLedger(chain, { databaseUrl: restoredUrl });
  for (const id of [inFlight, ...unsigned]) expect(await after.settled(id)).toHaveProperty("receipt");
  await expect(after.buy(purchaseRequest(later.address), "closed")).rejects.toThrow("refused");
  expect(tableOf((await runLedger(restoredUrl)).said, "Stops in force")).toMatch(
    /global .* restored from the backup of/,
  );
  await expect
    .poll(async () => (await stack.request("/health")).json)
    .toMatchObject({
      reasons: expect.arrayContaining([expect.objectContaining({ code: "transactions_unknown" })]),
    });
  expect(await sentByRelayers()).toEqual(sent);

  // Open: three clients' calls are repeated and find what was bought.
  expect(await runLedger(restoredUrl, ["resume", "global"])).toMatchObject({ code: 0 });
  // Empty transfers take the nonces of lost bytes, and are mined before a purchase is signed.
  const fenced = sent.map((count) => count + FENCE);
  const repeated = [];
  for (const key of keysOf(later, 3)) {
    repeated.push(await after.settled(await after.buy(purchaseRequest(later.address), key)));
  }
  const policies = await policiesOnChain(chain, later.address);
  expect(policies).toHaveLength(4);
  const hashes = policies.map(({ transactionHash }) => transactionHash);
  const found = repeated.flatMap((one) => ("receipt" in one ? [one.receipt.txHash] : []));
  expect(hashes).toEqual(expect.arrayContaining(found));
  expect(new Set(found).size).toBe(3);
  await expect.poll(sentByRelayers).toEqual(fenced);

  // The fourth waits for the operator, and nothing is signed beside it.
  const [left] = hashes.filter((hash) => !found.includes(hash));
  if (!left) throw new Error("no transaction is left");
  const shown = await runLedger(restoredUrl, ["reconcile"], chainEnv);
  expect(shown.code).toBe(1);
  expect(tableOf(shown.said, "On the chain, unknown to the ledger").match(/0x[0-9a-f]{64}/g)).toEqual([left]);
  const newcomer = await newBuyer(chain);
  const next = await after.buy(purchaseRequest(newcomer.address), "next");
  await expect.poll(() => stack.output("writer")).toMatch(new RegExp(`${next}.*has to wait`));
  expect(await sentByRelayers()).toEqual(fenced);
  expect(await runLedger(restoredUrl, ["reconcile", "--accept", left], chainEnv)).toMatchObject({ code: 0 });
  expect(await after.settled(await after.buy(purchaseRequest(newcomer.address), "last"))).toHaveProperty(
    "receipt",
  );
  await after.settled(next);
  expect(await after.settled(neverSigned)).toMatchObject({ state: "failed" });
  expect(await policyCount([old, waiting, later, without])).toBe(2 + 2 + 4);
});
