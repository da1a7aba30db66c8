/**
 * What this proves: no statement on a purchase's way scans a table that grows with the purchases, nor reads many of its rows
 * through an index, also once Postgres plans a prepared statement without its values.
 */
import { randomBytes, randomUUID } from "node:crypto";
import type { Sql } from "postgres";
import type { Hex } from "viem";
import { beforeAll, expect, test } from "vitest";
import {
  acceptPurchases,
  findExistingPurchase,
  type QuotedIntent,
} from "../../api/buying/accept-purchases.ts";
import { type Connection, connect } from "../../lib/db/connect.ts";
import { recentGasCost, waitingPurchases, walletLoads } from "../../lib/ledger/in-flight.ts";
import { noteOutcomeReceived, readPurchases } from "../../lib/ledger/purchases.ts";
import {
  reportFailedServiceTransactions,
  reportFlights,
  reportGaps,
  reportWaiting,
} from "../../lib/ledger/report.ts";
import { entryHistory } from "../../scripts/ledger/entry-history.ts";
import { assignNonces } from "../../workers/ledger/assign-nonces.ts";
import { type Candidate, readCandidates, reserveRaises } from "../../workers/ledger/gas-spending.ts";
import { archivePurchases } from "../../workers/ledger/housekeeping.ts";
import { type Lease, takeLease } from "../../workers/ledger/leases.ts";
import {
  confirmBlocks,
  dropBlocks,
  lacksFinal,
  lowestOpenNonces,
  markLost,
  raiseWatermarks,
  settle,
  settlingBlocks,
} from "../../workers/ledger/outcomes.ts";
import {
  busyWallets,
  noteSent,
  openTransactions,
  ownTransactions,
  storeForms,
  withheldHashes,
} from "../../workers/ledger/transactions.ts";
import { readWaiting, refusePurchase, takeForgotten } from "../../workers/ledger/waiting.ts";
import { atEnd } from "../support/cleanup.ts";
import { freshDatabase } from "../support/database.ts";
import { newTrace } from "../support/trace.ts";
import { readSoFar } from "./support/big-table-reads.ts";
import { archiveRows, bigTables, buyerOf, filled, fillLedger, idOf, sentFor } from "./support/fill-ledger.ts";
import { bought, call, form, router, signer, wantedPurchase, word } from "./support/ledger-fixture.ts";

const HOT = Number(process.env.PLAN_ROWS || 50_000);
const ARCHIVED = HOT;
/** After five runs Postgres may plan a statement without its values. */
const RUNS = 7;
/** Purchases of a round. */
const ROUND = 5;
/** Most rows that all runs of a step may read of one table: those of its round, of a buyer, of its watched blocks, or of a batch. */
const MOST_ROWS = RUNS * 2000;

const { chainId, relayer } = filled;
const head = BigInt(HOT) + 100n;

/** A single session, because a session reports its own statistics on request. */
let connection: Connection;
let sql: Sql;
let lease: Lease;

beforeAll(async () => {
  connection = connect(await freshDatabase(), { name: "test", max: 1, statementTimeout: 0 });
  atEnd(connection.close);
  sql = connection.sql;
  await fillLedger(sql, HOT);
  await archiveRows(sql, HOT, ARCHIVED);
  const taken = await takeLease(sql, { chainId, address: relayer, owner: "me" });
  if (!taken) throw new Error("no lease");
  await sql`update service.relayer_wallet set lease_until = now() + interval '1 hour'`;
  lease = taken;
});

/** Runs a step as often as it takes to get a plan without values, each time with an input made before. */
async function expectIndexed<Input>(
  prepare: () => Promise<Input>,
  step: (input: Input) => Promise<unknown>,
): Promise<void> {
  const inputs: Input[] = [];
  for (let run = 0; run < RUNS; run += 1) inputs.push(await prepare());
  const before = await readSoFar(sql);
  for (const input of inputs) await step(input);
  const after = await readSoFar(sql);
  for (const table of bigTables) {
    const scanned = (after[table]?.scanned ?? 0) - (before[table]?.scanned ?? 0);
    const fetched = (after[table]?.fetched ?? 0) - (before[table]?.fetched ?? 0);
    expect(scanned, `rows of ${table} that were scanned`).toBe(0);
    expect(fetched, `rows of ${table} that were read through indexes`).toBeLessThan(MOST_ROWS);
  }
}

const intentOf = (n: number, idempotencyKey: string | null, buyer = buyerOf(n)): QuotedIntent => ({
  ...{ chainId, router, wallet: buyer, keyId: null, idempotencyKey, quotedPremium: 292_000n },
  request: { productId: word(1), coverageAmount: 100_000_000n, asset: word(2), buyer },
  funds: { block: head, balance: 10n ** 18n, allowance: 10n ** 18n },
});
const permit = { value: 292_000n, deadline: 2n ** 32n, signature: word(3) } as const;

/** A purchase with a permit and a trace; its buyer has no other. */
const withPermit = (n: number): QuotedIntent => ({
  ...intentOf(n, randomUUID(), `0x${randomBytes(20).toString("hex")}`),
  permit,
  traceparent: newTrace(),
});
let buyers = 0;
async function newIntents(): Promise<QuotedIntent[]> {
  buyers += ROUND;
  return Array.from({ length: ROUND }, (_, n) =>
    n % 2 === 0 ? withPermit(n) : intentOf((buyers + n) % filled.buyers, randomUUID()),
  );
}
const accept = (intents: readonly QuotedIntent[]) => acceptPurchases(connection, intents);

async function acceptedIds(): Promise<string[]> {
  const acceptances = await accept(await newIntents());
  return [...acceptances.values()].map((one) => {
    if (one.outcome !== "created") throw new Error(one.outcome);
    return one.purchase.id;
  });
}

async function assign(ids: readonly string[]) {
  const { assigned } = await assignNonces(sql, {
    lease,
    candidates: (tx) => readCandidates(tx, lease, ids, 3600),
    clients: (candidates: readonly Candidate[]) => candidates.map(({ wallet }) => wallet),
    choose: (candidates) => ({
      send: candidates.flatMap(({ id }) => wantedPurchase(id).calls),
    }),
  });
  return assigned;
}
const assigned = async () => assign(await acceptedIds());

async function forms() {
  return Promise.all(
    (await assigned()).map(async ({ transactionId, nonce }) =>
      form(transactionId, await signer(nonce, call)),
    ),
  );
}
async function signed() {
  const stored = await forms();
  await storeForms(sql, lease, stored);
  return stored;
}
const hashesOf = (stored: Awaited<ReturnType<typeof signed>>): Hex[] =>
  stored.map(({ signed: { hash } }) => hash);

let height = Number(head);
async function outcomes() {
  const hashes = hashesOf(await signed());
  height += 1;
  return hashes.map((hash, n) => bought(hash, height, BigInt(n)));
}
async function settledBlock() {
  await settle(sql, await outcomes());
  return { number: BigInt(height), hash: word(height) };
}

/** A hot purchase, and an archived one. */
const ids = [idOf(HOT / 2), idOf(HOT + ARCHIVED / 2)];
const hotKey = `hot ${HOT / 2}`;
const oldKey = `old ${HOT + ARCHIVED / 2}`;
const nothing = async () => {};

const tests: Record<string, () => Promise<void>> = {
  "accepting new purchases": () => expectIndexed(newIntents, accept),
  "accepting calls without a key": () =>
    expectIndexed(async () => (await newIntents()).map((one) => ({ ...one, idempotencyKey: null })), accept),
  "repeated calls, of hot and of archived purchases": () =>
    expectIndexed(
      async () => [intentOf(HOT / 2, hotKey), intentOf(HOT + ARCHIVED / 2, oldKey)],
      async (intents) => {
        const found = [...(await accept(intents)).values()];
        expect(found.map(({ outcome }) => outcome)).toEqual(["conflict", "conflict"]);
        for (const intent of intents)
          expect(await findExistingPurchase(sql, intent)).toEqual({ outcome: "conflict" });
      },
    ),
  "reading purchases, for a client and for the waiter": () =>
    expectIndexed(nothing, async () => {
      expect(await readPurchases(sql, ids)).toHaveLength(2);
    }),
  "purchases that wait": () =>
    expectIndexed(acceptedIds, async (waiting) => {
      expect((await readWaiting(sql, chainId, waiting)).size).toBe(ROUND);
      await takeForgotten(sql, chainId, { onlyOverdue: false, limit: ROUND });
      await waitingPurchases(sql, chainId);
    }),
  "refusing a purchase": () =>
    expectIndexed(acceptedIds, (all) =>
      Promise.all(
        all.map((id) => refusePurchase(sql, id, { code: "relayer_unavailable", message: "too late" })),
      ),
    ),
  "giving out nonces": () => expectIndexed(acceptedIds, assign),
  "storing signed forms": () => expectIndexed(forms, (all) => storeForms(sql, lease, all)),
  "checking and noting broadcasts": () =>
    expectIndexed(signed, async (all) => {
      await withheldHashes(sql, hashesOf(all));
      await noteSent(
        sql,
        hashesOf(all).map((hash) => ({ hash, taken: true, again: true })),
      );
    }),
  "open transactions": () =>
    expectIndexed(signed, async (all) => {
      await openTransactions(sql, chainId, relayer, 10);
      await lowestOpenNonces(sql, chainId);
      const mined = sentFor(HOT);
      const counts = { address: relayer, mined, pooled: mined };
      expect(await busyWallets(sql, chainId, [counts])).toEqual(new Set([relayer]));
      expect(await ownTransactions(sql, chainId, hashesOf(all))).toHaveLength(ROUND);
    }),
  "raising fees": () =>
    expectIndexed(assigned, (all) => {
      const raises = all.map(({ transactionId: id }) => ({ id, cost: 2n, reserved: 1n, isEmpty: false }));
      return reserveRaises(sql, lease, () => raises);
    }),
  "settling outcomes, and noting that a caller has one": () =>
    expectIndexed(outcomes, async (all) => {
      const [first] = await settle(sql, all);
      await noteOutcomeReceived(sql, first?.id ?? "");
    }),
  "final outcomes, reorganisations, watermarks": () =>
    expectIndexed(
      async () => [await settledBlock(), await settledBlock()] as const,
      async ([stays, falls]) => {
        await settlingBlocks(sql, chainId, BigInt(height), { final: true });
        await confirmBlocks(sql, chainId, [stays]);
        await dropBlocks(sql, chainId, [falls]);
        await lacksFinal(sql, chainId, relayer, sentFor(HOT), BigInt(height));
        await raiseWatermarks(sql, chainId, BigInt(height));
      },
    ),
  "a lost transaction": () =>
    expectIndexed(assigned, (all) =>
      Promise.all(all.map(({ transactionId }) => markLost(sql, transactionId, word(transactionId)))),
    ),
  "what the operator and the metrics read": () =>
    expectIndexed(nothing, async () => {
      for (const id of ids) expect((await entryHistory(sql, id))?.transactions).not.toHaveLength(0);
      await walletLoads(sql);
      expect(await recentGasCost(sql, chainId)).toBeDefined();
    }),
  "what the operator reads of the ledger: what is in flight, waits, failed, and is missing": () =>
    expectIndexed(nothing, async () => {
      const [first, second] = await reportFlights(sql, { minAge: 0, limit: 2 });
      const [next] = await reportFlights(sql, { minAge: 0, limit: 1, after: first });
      expect(next?.transactionId).toBe(second?.transactionId);
      await reportWaiting(sql, { minAge: 0, limit: 50 });
      await reportFailedServiceTransactions(sql, 50);
      await reportGaps(sql, 50);
    }),
  "looking for purchases to archive, where there are none": () =>
    expectIndexed(nothing, async () => {
      expect(await archivePurchases(sql, chainId, filled.days + 1)).toBe(0);
    }),
};

test.each(Object.entries(tests))("%s: read through indexes, and few rows", (_, run) => run());

test("a batch to archive reads the rows of the batch", async () => {
  const before = await readSoFar(sql);
  expect(await archivePurchases(sql, chainId, filled.days - 1)).toBe(200);
  expect(await archivePurchases(sql, chainId, filled.days - 1)).toBe(200);
  const after = await readSoFar(sql);
  for (const table of bigTables) {
    expect((after[table]?.scanned ?? 0) - (before[table]?.scanned ?? 0), table).toBe(0);
    expect((after[table]?.fetched ?? 0) - (before[table]?.fetched ?? 0), table).toBeLessThan(400 * 12);
  }
});
