/** A purchase that moves to another block while the outcomes of its old block are handled. */
import { describe, expect, test } from "vitest";
import { connect } from "../../lib/db/connect.ts";
import { settle } from "../../workers/ledger/outcomes.ts";
import { mayRest } from "../support/database.ts";
import {
  accepted,
  bought,
  confirm,
  connection,
  databaseUrl,
  drop,
  newLease,
  sign,
  untilStatementWaits,
  useLedgerDatabase,
} from "./support/ledger-fixture.ts";

useLedgerDatabase();

describe("concurrent outcomes", () => {
  const states = () => connection.sql`
    select t.state as transaction, p.state as purchase, p.final_at is not null as final, p.block_number::int as block
    from service.transaction t join service.purchase_progress p on p.id = t.intent`;

  /** Settles a purchase in block 7 and, in an open transaction, in block 8; `meanwhile` handles block 7 concurrently. */
  async function movedWhile(meanwhile: () => Promise<unknown>): Promise<void> {
    const [signed] = await sign(await newLease(), [await accepted()]);
    const hash = signed?.signed.hash;
    await settle(connection.sql, [bought(hash, 7)]);
    // `meanwhile` reads block 7 and has to wait for the lock on the transaction's row.
    const other = connect(databaseUrl, { name: "other", max: 1 });
    await other.sql`begin`;
    await mayRest(other.sql);
    await settle(other.sql, [bought(hash, 8)]);
    const asked = meanwhile();
    await untilStatementWaits();
    await other.sql`commit`;
    await asked;
    await other.close();
  }

  test("a purchase that moved to another block is made final by that block only", async () => {
    await movedWhile(() => confirm(7));
    expect(await states()).toEqual([{ transaction: "mined", purchase: "mined", final: false, block: 8 }]);
    await confirm(8);
    expect(await states()).toEqual([{ transaction: "final", purchase: "confirmed", final: true, block: 8 }]);
  });

  test("a purchase that moved to another block is not dropped with the old one", async () => {
    await movedWhile(async () => expect(await drop(7)).toEqual([]));
    expect(await states()).toEqual([{ transaction: "mined", purchase: "mined", final: false, block: 8 }]);
    expect(await drop(8)).toHaveLength(1);
    expect(await states()).toEqual([
      { transaction: "open", purchase: "broadcast", final: false, block: null },
    ]);
  });
});
