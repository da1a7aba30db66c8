import { afterEach, describe, expect, test } from "vitest";
import { storeFillers } from "../../workers/ledger/fillers.ts";
import { markLost, settle } from "../../workers/ledger/outcomes.ts";
import { openTransactions, storeForms, withheldHashes } from "../../workers/ledger/transactions.ts";
import { waitForLockWaiter } from "../support/database.ts";
import {
  accepted,
  bought,
  call,
  chainId,
  confirm,
  connection,
  drop,
  form,
  keyId,
  newLease,
  other,
  relayer,
  request,
  sign,
  signer,
  useLedgerDatabase,
  wallet,
  word,
} from "./support/ledger-fixture.ts";

useLedgerDatabase();

describe("the kill switch", () => {
  const stop = (scope: string, subject: string) =>
    connection.sql`insert into service.stop (scope, subject, reason) values (${scope}, ${subject}, 'test')`;
  afterEach(async () => {
    await connection.sql`truncate service.stop`;
  });

  test.each([
    { scope: "global", subject: () => "", call: true, cancel: true },
    { scope: "wallet", subject: () => relayer, call: true, cancel: true },
    { scope: "wallet", subject: () => wallet, call: true, cancel: false },
    { scope: "key", subject: () => String(keyId), call: true, cancel: false },
    { scope: "key", subject: () => "999999", call: false, cancel: false },
  ])(
    "with scope $scope stops signed transactions: the call $call, its cancelling transfer $cancel",
    async (stopped) => {
      const lease = await newLease();
      const [signed] = await sign(lease, [await accepted()]);
      const [open] = await openTransactions(connection.sql, chainId, relayer, 1);
      if (!open || !signed) throw new Error("nothing is open");
      const cancel = form(open.id, await signer(0, call), true);
      await storeForms(connection.sql, lease, [cancel]);
      const hashes = [signed.signed.hash, cancel.signed.hash];
      expect(await withheldHashes(connection.sql, hashes)).toEqual(new Set());
      await stop(stopped.scope, stopped.subject());
      const held = await withheldHashes(connection.sql, hashes);
      expect(hashes.map((one) => held.has(one))).toEqual([stopped.call, stopped.cancel]);
    },
  );

  test("stops a form that is stored while the stop is committed: its wallet was locked", async () => {
    const lease = await newLease();
    await sign(lease, [await accepted()]);
    const [open] = await openTransactions(connection.sql, chainId, relayer, 1);
    if (!open) throw new Error("nothing is open");
    const costlier = form(open.id, { ...(await signer(0, call)), maxFee: 90n });
    const { storing } = await connection.sql.begin(async (tx) => {
      await tx`select 1 from service.relayer_wallet where address = ${relayer} for update`;
      const storing = storeForms(connection.sql, lease, [costlier]);
      await waitForLockWaiter(connection.sql, "transactionid");
      await stop("global", "");
      return { storing };
    });
    expect([...(await storing)]).toEqual([[costlier.signed.hash, { stopped: true }]]);
  });
});

describe("the gas costs of a day", () => {
  const days = () => connection.sql<{ wallet: string; wei: string }[]>`
    select wallet, wei from service.gas_day where day = (now() at time zone 'utc')::date order by wallet`;
  /** The same, computed from the transactions. */
  const sums = () => connection.sql<{ wallet: string; wei: string }[]>`
    select w as wallet, sum(case t.state when 'lost' then 0 else coalesce(t.gas_cost, t.gas_reserved) end) as wei
    from service.transaction t left join service.purchase_progress p on p.id = t.intent,
      unnest(array['', p.wallet]) w where w is not null group by w order by w`;

  test("follow every change of the transactions, also concurrent ones", async () => {
    const lease = await newLease();
    const ids = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        accepted(n % 3 === 0 ? { wallet: other, request: { ...request, buyer: other } } : {}),
      ),
    );
    const signed = (await Promise.all([sign(lease, ids.slice(0, 8)), sign(lease, ids.slice(4))])).flat();
    expect(await days()).toEqual(await sums());
    const [first, second] = await openTransactions(connection.sql, chainId, relayer, 2);
    if (!first || !second) throw new Error("nothing is open");
    const costlier = { ...(await signer(0, call)), maxFee: 90n };
    await storeForms(connection.sql, lease, [form(first.id, costlier)]);
    expect(await days()).toEqual(await sums());
    await Promise.all(
      signed.slice(2).map((one, n) => settle(connection.sql, [bought(one.signed.hash, 7 + n)])),
    );
    await markLost(connection.sql, second.id, word(99));
    await storeFillers(connection.sql, lease, [0], call);
    expect(await days()).toEqual(await sums());
    await confirm(7);
    await drop(8);
    expect(await days()).toEqual(await sums());
    expect((await days()).map(({ wallet }) => wallet)).toEqual(["", wallet, other].toSorted());
  });
});
