/** Waiting for purchases: by notification, by poll, and across an outage of Postgres. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { connect } from "../../lib/db/connect.ts";
import { createPurchaseWaiter } from "../../lib/ledger/waiter.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { refusePurchase } from "../../workers/ledger/waiting.ts";
import { atEnd } from "../support/cleanup.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { accepted, connection, databaseUrl, useLedgerDatabase } from "./support/ledger-fixture.ts";

useLedgerDatabase();

describe("waiting for a purchase", () => {
  test("many callers are answered soon after it settles, also one who came too late for the notification", async () => {
    const waiter = createPurchaseWaiter(databaseUrl, connection.sql);
    atEnd(() => waiter.close());
    const id = await accepted();
    const early = Promise.all([waiter.wait(id, 20_000), waiter.wait(id, 20_000)]);
    await refusePurchase(connection.sql, id, { code: "oracle_stale", message: "m" });
    expect((await early).map((purchase) => purchase.state)).toEqual(["failed", "failed"]);
    expect((await waiter.wait(id, 20_000)).state).toBe("failed");
    await waiter.close();
  });

  test("the time-out answers with the state as it is", async () => {
    const waiter = createPurchaseWaiter(databaseUrl, connection.sql);
    const id = await accepted();
    expect(await waiter.wait(id, 50)).toMatchObject({ id, state: "accepted" });
    await expect(waiter.wait(randomUUID(), 50)).rejects.toThrow("there is no purchase");
    await waiter.close();
  });

  test("a change without a notification is found by the poll", async () => {
    const waiter = createPurchaseWaiter(databaseUrl, connection.sql);
    const id = await accepted();
    const waiting = waiter.wait(id, 20_000);
    await connection.sql`
      update service.purchase set failure_code = 'oracle_stale', failure_message = 'm', refused_at = now(), answers_repeats = false
      where id = ${id}`;
    expect((await waiting).state).toBe("failed");
    await waiter.close();
  });

  test("it starts while Postgres is away, and listens again after each outage", async () => {
    const proxy = await startTcpProxy(databaseUrl);
    await proxy.cut();
    const reads = connect(proxy.url, { name: "test-reads" });
    const waiter = createPurchaseWaiter(proxy.url, reads.sql);
    const listening = (expected: number) =>
      waitFor({
        what: `${expected} listening session`,
        probe: async () => {
          const rows = await connection.sql`
            select 1 from pg_stat_activity
            where datname = current_database() and application_name = 'purchase-waiter' and query ilike '%listen%'`;
          return rows.length === expected ? true : undefined;
        },
      });
    await proxy.mend();
    await listening(1);
    for (let n = 0; n < 2; n += 1) {
      await proxy.cut();
      await listening(0);
      await proxy.mend();
      await listening(1);
    }
    const id = await accepted();
    const waiting = waiter.wait(id, 20_000);
    await refusePurchase(connection.sql, id, { code: "oracle_stale", message: "m" });
    expect((await waiting).state).toBe("failed");
    await waiter.close();
    await reads.close();
  });
});
