/**
 * A wallet whose key was taken out of the configuration while transactions were open. What this proves, on a chain: `give-up` ends
 * what the chain or the ledger proves, leaves open what may still be mined, and says so.
 */
import { randomUUID } from "node:crypto";
import { type Address, type Hex, keccak256 } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { acceptPurchases } from "../../api/buying/accept-purchases.ts";
import { type Connection, connect } from "../../lib/db/connect.ts";
import { abandonedWallets } from "../../lib/ledger/in-flight.ts";
import { readPurchase } from "../../lib/ledger/purchases.ts";
import { lower } from "../../lib/lower.ts";
import { assignNonces, type Call } from "../../workers/ledger/assign-nonces.ts";
import { type Candidate, readCandidates } from "../../workers/ledger/gas-spending.ts";
import { type Lease, releaseLease, startNonces, takeLease } from "../../workers/ledger/leases.ts";
import { storeForms } from "../../workers/ledger/transactions.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { atEnd } from "../support/cleanup.ts";
import { freshDatabase } from "../support/database.ts";
import { deployGasOracle } from "../support/gas-oracle.ts";
import { plenty, purchaseRequest } from "../support/ledger.ts";
import { runLedger, tableOf } from "./support/ledger-command.ts";

const buyer: Address = "0x00000000000000000000000000000000000000aa";
const call: Call = { to: buyer, data: "0x", value: 5n, gasLimit: 21_000n };
const CONFIRMATIONS = 2;

let chain: TestChain;
let databaseUrl: string;
let connection: Connection;
let account: PrivateKeyAccount;
let address: Address;
let lease: Lease;

beforeAll(async () => {
  chain = await startChain();
  await deployGasOracle(chain, 1000n);
  databaseUrl = await freshDatabase();
  connection = connect(databaseUrl, { name: "test" });
  atEnd(connection.close);
});

/** A wallet that a writer holds. */
beforeEach(async () => {
  account = privateKeyToAccount(generatePrivateKey());
  address = lower(account.address);
  await chain.client.setBalance({ address, value: 10n ** 18n });
  const taken = await takeLease(connection.sql, { chainId: 8453, address, owner: "a writer" });
  if (!taken) throw new Error("no lease");
  await startNonces(connection.sql, taken, 0);
  lease = taken;
});

/** Purchases with the nonces from 0 on, and no bytes. */
async function assigned(count: number) {
  const router = chain.deployment.contracts.coverRouter;
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const intent = {
      ...{
        chainId: 8453,
        router,
        wallet: buyer,
        keyId: null,
        idempotencyKey: randomUUID(),
        quotedPremium: 7n,
      },
      ...{ request: purchaseRequest(buyer), funds: plenty },
    };
    const acceptance = (await acceptPurchases(connection, [intent])).get(intent);
    if (acceptance?.outcome !== "created") throw new Error(acceptance?.outcome);
    ids.push(acceptance.purchase.id);
  }
  const wanted = ids.map((id) => ({ id, calls: [{ kind: "purchase" as const, id, call, cost: 100n }] }));
  const { assigned: all } = await assignNonces(connection.sql, {
    lease,
    candidates: (tx) => readCandidates(tx, lease, ids, 60),
    clients: (candidates: readonly Candidate[]) => candidates.map(({ wallet }) => wallet),
    choose: () => ({ send: wanted.flatMap(({ calls }) => calls) }),
  });
  return all;
}

const bytesOf = async (nonce: number, { to, value }: Pick<Call, "to" | "value">): Promise<Hex> =>
  account.signTransaction({
    ...{ chainId: 8453, nonce, to, value, gas: 21_000n, type: "eip1559" },
    ...{ maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 1n },
  });
const storeBytes = (transactionId: number, bytes: Hex) =>
  storeForms(connection.sql, lease, [
    {
      ...{ transactionId, cancels: false, cost: 100n },
      signed: { hash: keccak256(bytes), bytes, maxFee: 10n ** 10n, priorityFee: 1n },
    },
  ]);
const send = (serializedTransaction: Hex) => chain.client.sendRawTransaction({ serializedTransaction });
/** Sends and waits until it is in a block, so that the blocks which a test mines next all confirm it. */
const sendMined = async (bytes: Hex) => chain.client.waitForTransactionReceipt({ hash: await send(bytes) });

const giveUp = () =>
  runLedger(databaseUrl, ["give-up", account.address], {
    RPC_URL: chain.url,
    DEPLOYMENT_FILE: chain.deploymentFile,
    CONFIRMATIONS: String(CONFIRMATIONS),
  });
const gasOfDay = () => connection.sql`select wallet, wei from service.gas_day order by wallet`;

test("what is proved ends, what may still be mined stays open, and a writer's wallet is left alone", async () => {
  const { sql } = connection;
  // Mined; replaced by an empty transfer; used by another program; signed only; never signed.
  const [mined, replaced, foreign, signed, unsigned] = await assigned(5);
  if (!mined || !replaced || !foreign || !signed || !unsigned) throw new Error("too few");
  for (const one of [mined, replaced, foreign, signed])
    await storeBytes(one.transactionId, await bytesOf(one.nonce, call));
  await sendMined(await bytesOf(0, call));
  await sendMined(await bytesOf(1, { to: address, value: 0n }));
  await sendMined(await bytesOf(2, { to: buyer, value: 6n }));
  await chain.client.mine({ blocks: CONFIRMATIONS });

  expect(await giveUp()).toMatchObject({ code: 1, said: expect.stringContaining("A writer holds") });
  await releaseLease(sql, lease);
  expect(await abandonedWallets(sql, 8453)).toEqual([]);
  await sql`update service.relayer_wallet set lease_until = now() - interval '2 minutes'`;
  expect(await abandonedWallets(sql, 8453)).toEqual([{ wallet: address, open: 5 }]);
  expect(
    tableOf((await runLedger(databaseUrl)).said, "Wallets with open transactions that no writer"),
  ).toContain(account.address);

  const first = await giveUp();
  expect(first.code).toBe(1);
  const certain = tableOf(first.said, "Certain (chain 8453)");
  for (const nonce of [0, 1, 2]) expect(certain).toMatch(new RegExp(`^ *${nonce} +purchase +settled`, "m"));
  expect(certain).toMatch(/^ *4 +purchase +given up: no signed bytes/m);
  const open = tableOf(first.said, "Not certain, and still open (chain 8453)");
  expect(open).toMatch(/^ *3 +purchase +whoever has its signed bytes/m);
  expect(first.said).toContain("send an empty transfer");
  const states =
    await sql`select nonce::int as nonce, state, outcome from service.transaction order by nonce`;
  expect([...states]).toEqual([
    { nonce: 0, state: "mined", outcome: "reverted" },
    { nonce: 1, state: "mined", outcome: "replaced" },
    { nonce: 2, state: "lost", outcome: null },
    { nonce: 3, state: "open", outcome: null },
  ]);
  // Those that were never bought wait for another wallet, and no gas is reserved for them.
  const waiting = await sql<{ intent: string }[]>`select intent from service.waiting order by intent`;
  expect(waiting.map(({ intent }) => intent)).toEqual([foreign.id, unsigned.id].toSorted());
  expect(await readPurchase(sql, unsigned.id)).toMatchObject({ state: "accepted" });

  // The key's holder rules the last one out.
  await sendMined(await bytesOf(3, { to: address, value: 0n }));
  await chain.client.mine({ blocks: CONFIRMATIONS });
  const second = await giveUp();
  expect(second).toMatchObject({ code: 0 });
  expect(tableOf(second.said, "Certain (chain 8453)")).toMatch(/^ *3 +purchase +settled/m);
  const [total] = await sql<{ reserved: string }[]>`
    select coalesce(sum(gas_reserved), 0) as reserved from service.transaction where state = 'open'`;
  expect(total?.reserved).toBe("0");
  const spent = await sql<{ wei: string }[]>`
    select sum(gas_cost) as wei from service.transaction where gas_cost is not null`;
  expect((await gasOfDay()).map(({ wei }) => wei)).toEqual([spent[0]?.wei, spent[0]?.wei]);
});

test("a nonce that the node's pool has stays open without its bytes, and is settled once it is mined", async () => {
  const { sql } = connection;
  const [pooled, unsigned] = await assigned(2);
  if (!pooled || !unsigned) throw new Error("too few");
  // The database has lost the bytes of the first one.
  await chain.client.setAutomine(false);
  await send(await bytesOf(pooled.nonce, call));
  await releaseLease(sql, lease);

  const first = await giveUp();
  expect(first.code).toBe(1);
  expect(tableOf(first.said, "Certain (chain 8453)")).toMatch(/^ *1 +purchase +given up: no signed bytes/m);
  const open = tableOf(first.said, "Not certain, and still open (chain 8453)");
  expect(open).toMatch(/^ *0 +purchase +whoever has its signed bytes/m);

  await chain.client.setAutomine(true);
  await chain.client.mine({ blocks: CONFIRMATIONS + 1 });
  const second = await giveUp();
  expect(second).toMatchObject({ code: 0 });
  expect(tableOf(second.said, "Certain (chain 8453)")).toMatch(/^ *0 +purchase +settled/m);
  const [row] = await sql<{ state: string; reserved: string }[]>`
    select state, gas_reserved as reserved from service.transaction where id = ${pooled.transactionId}`;
  expect(row?.state).toBe("mined");
  // The form is recorded with its L1 fee.
  expect(BigInt(row?.reserved ?? 0)).toBeGreaterThan(21_000n * 10n ** 10n);
});
