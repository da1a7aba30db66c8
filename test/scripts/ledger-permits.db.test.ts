/** What the operator sees of a purchase's permit. */
import { expect, test } from "vitest";
import { reportFlights } from "../../lib/ledger/report.ts";
import { connection, databaseUrl, newLease, useLedgerDatabase } from "../workers/support/ledger-fixture.ts";
import { acceptedWithPermit, signWith } from "../workers/support/permits.ts";
import { runLedger, tableOf } from "./support/ledger-command.ts";

useLedgerDatabase();

test("a permit in flight is listed with the id of its purchase, which shows both and what each does", async () => {
  const ids = await acceptedWithPermit();
  const [permit, purchase] = await signWith(await newLease(), ids, "both");
  expect(await reportFlights(connection.sql, { minAge: 0, limit: 10 })).toMatchObject([
    { kind: "permit", id: ids.purchase, nonce: 0, state: "broadcast" },
    { kind: "purchase", id: ids.purchase, nonce: 1, state: "broadcast" },
  ]);
  const { code, said } = await runLedger(databaseUrl, ["show", ids.purchase]);
  expect(code).toBe(0);
  expect(tableOf(said, "Transaction with nonce 0")).toMatch(
    new RegExp(`${permit?.hash} +sets the allowance `),
  );
  expect(tableOf(said, "Transaction with nonce 1")).toMatch(new RegExp(`${purchase?.hash} +buys `));
});
