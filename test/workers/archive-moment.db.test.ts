/** What this proves: in the very moment of archiving, no call buys twice, no purchase is lost, and none is archived twice. */
import { expect, test } from "vitest";
import { connect } from "../../lib/db/connect.ts";
import { readPurchase } from "../../lib/ledger/purchases.ts";
import { atEnd } from "../support/cleanup.ts";
import {
  accept,
  accepted,
  chainId,
  connection,
  databaseUrl,
  newPurchase,
  useLedgerDatabase,
} from "./support/ledger-fixture.ts";
import { archive, countOf, DAYS, oldPurchases } from "./support/old-purchases.ts";

useLedgerDatabase();

function signal(): [Promise<void>, () => void] {
  let resolve = (): void => {};
  return [new Promise<void>((done) => (resolve = done)), () => resolve()];
}

/** Archives in an open transaction, runs `meanwhile`, and then commits, or ends the session. */
async function during(meanwhile: () => Promise<unknown>, { commits = true } = {}): Promise<void> {
  const writer = connect(databaseUrl, { name: "test", max: 1 });
  atEnd(writer.close);
  const [ending, onEnding] = signal();
  const committed = writer.sql.begin(async (tx) => {
    const [row] = await tx`
        select service.archive_purchases(${chainId}, now() - make_interval(days => ${DAYS}), 200) as archived`;
    expect(row).toEqual({ archived: 1 });
    await meanwhile();
    onEnding();
    if (!commits) await tx`select pg_terminate_backend(pg_backend_pid())`;
  });
  committed.catch(() => {}); // awaited where it commits
  await (commits ? committed : ending);
}

test("a replay gets the receipt without waiting, and another writer archives nothing twice", async () => {
  const key = { idempotencyKey: "moment" };
  const id = await accepted(key);
  await oldPurchases([id]);
  await during(async () => {
    expect(await accept(newPurchase(key))).toMatchObject({ outcome: "joined", purchase: { id } });
    expect(await archive()).toBe(0);
  });
  expect(await countOf("archived_purchase")).toBe(1);
});

test("a call without a key, like one that was settled long ago, buys once", async () => {
  const first = await accept(newPurchase());
  if (first.outcome !== "created") throw new Error(first.outcome);
  await oldPurchases([first.purchase.id]);
  let calls: ReturnType<typeof accept>[] = [];
  await during(async () => {
    calls = [accept(newPurchase()), accept(newPurchase())];
  });
  const outcomes = (await Promise.all(calls)).map(({ outcome }) => outcome);
  expect(outcomes.sort()).toEqual(["created", "joined"]);
});

test("a session that ends before it commits loses nothing", async () => {
  const id = await accepted();
  await oldPurchases([id]);
  const purchase = await readPurchase(connection.sql, id);
  await during(async () => {}, { commits: false });
  expect(await countOf("archived_purchase")).toBe(0);
  expect(await readPurchase(connection.sql, id)).toEqual(purchase);
  await expect.poll(archive).toBe(1);
});

test("a purchase that a reorganisation opens just then is left where it is", async () => {
  await oldPurchases([await accepted()]);
  await connection.sql.begin(async (tx) => {
    await tx`update service.transaction set final_at = null, block_number = null, block_hash = null, hash = null, outcome = null,
        gas_cost = null, settled_at = null, policy_id = null, premium_paid = null`;
    expect(await archive()).toBe(0);
  });
  expect(await archive()).toBe(0);
});

test("hundreds of replays beside four writers: each key keeps its purchase, and none is bought twice", async () => {
  const keys = Array.from({ length: 400 }, (_, n) => `key ${n}`);
  const ids = new Map<string, string>();
  for (const idempotencyKey of keys) ids.set(idempotencyKey, await accepted({ idempotencyKey }));
  await oldPurchases([...ids.values()]);
  let archived = 0;
  const writers = Array.from({ length: 4 }, async () => {
    while ((await countOf("archived_purchase")) !== keys.length) {
      const count = await archive();
      archived += count;
    }
  });
  const replays = keys.map(async (idempotencyKey) => {
    expect(await accept(newPurchase({ idempotencyKey }))).toMatchObject({
      outcome: "joined",
      purchase: { id: ids.get(idempotencyKey) },
    });
  });
  await Promise.all([...writers, ...replays]);
  expect(archived).toBe(keys.length);
  expect(await countOf("purchase")).toBe(0);
});
