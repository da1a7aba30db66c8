/** Final outcomes: watched for a while, and undone by reorganisations that go deeper. */
import { describe, expect, test } from "vitest";
import { readPurchase } from "../../lib/ledger/purchases.ts";
import { lacksFinal, raiseWatermarks, reopenFinal, settlingBlocks } from "../../workers/ledger/outcomes.ts";
import { openTransactions } from "../../workers/ledger/transactions.ts";
import {
  accepted,
  buyFinally,
  chainId,
  confirm,
  connection,
  drop,
  mineFiller,
  newLease,
  relayer,
  useLedgerDatabase,
} from "./support/ledger-fixture.ts";

useLedgerDatabase();

describe("final outcomes", () => {
  /** Three purchases of a wallet, final in the blocks 7, 8 and 90. */
  async function threeFinal(): Promise<readonly string[]> {
    const ids = [await accepted(), await accepted(), await accepted()];
    await buyFinally(await newLease(), ids, [7, 8, 90]);
    return ids;
  }
  const statesOf = async (ids: readonly string[]) =>
    Promise.all(ids.map(async (id) => (await readPurchase(connection.sql, id))?.state));

  test("are watched for 64 blocks more, and dropped with their block by a deeper reorganisation", async () => {
    const ids = await threeFinal();
    await raiseWatermarks(connection.sql, chainId, 73n);
    const watched = await settlingBlocks(connection.sql, chainId, 100n, { final: true });
    expect(watched.map(({ number }) => number)).toEqual([90n]);
    expect(await settlingBlocks(connection.sql, chainId, 100n, { final: false })).toEqual([]);
    expect(await drop(90)).toHaveLength(1);
    expect(await statesOf(ids)).toEqual(["confirmed", "confirmed", "broadcast"]);
  });

  test("that the chain lacks, because a reorganisation went deeper still, are open again", async () => {
    const ids = await threeFinal();
    await raiseWatermarks(connection.sql, chainId, 200n);
    expect(await settlingBlocks(connection.sql, chainId, 200n, { final: true })).toEqual([]);
    expect(await lacksFinal(connection.sql, chainId, relayer, 3)).toBe(false);
    expect(await lacksFinal(connection.sql, chainId, relayer, 1)).toBe(true);
    // A node that syncs anew has not read the block 8 yet.
    expect(await lacksFinal(connection.sql, chainId, relayer, 1, 7n)).toBe(false);
    expect(await lacksFinal(connection.sql, chainId, relayer, 1, 8n)).toBe(true);
    expect(await reopenFinal(connection.sql, chainId, relayer, 1)).toHaveLength(2);
    expect(await statesOf(ids)).toEqual(["confirmed", "broadcast", "broadcast"]);
    const open = await openTransactions(connection.sql, chainId, relayer, 10);
    expect(open.map(({ nonce, attempts }) => [nonce, attempts[0]?.sentAgo])).toEqual([
      [1, null],
      [2, null],
    ]);
  });

  test("of fillers come like all others", async () => {
    const lease = await newLease(1);
    await mineFiller(lease, 0, 7);
    await confirm(7);
    expect(await connection.sql`select kind, state from service.transaction`).toEqual([
      { kind: "filler", state: "final" },
    ]);
  });
});
