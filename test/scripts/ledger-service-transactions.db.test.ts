/** `npm run ledger` on service transactions in each of their states. */
import postgres, { type Sql } from "postgres";
import { beforeAll, expect, test } from "vitest";
import { atEnd } from "../support/cleanup.ts";
import { freshDatabase } from "../support/database.ts";
import { runLedger, tableOf } from "./support/ledger-command.ts";

let databaseUrl: string;
let sql: Sql;

beforeAll(async () => {
  databaseUrl = await freshDatabase();
  sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  atEnd(() => sql.end());
});

test("the overview lists waiting, signed and failed service transactions, and a claim shows its two service transactions", async () => {
  const chainId = 84532;
  const [faucet, paid, unused] = [`0x${"fa".repeat(20)}`, `0x${"0d".repeat(20)}`, "2100-01-01"];
  const hash = `0x${"77".repeat(32)}`;
  await sql`
    insert into service.relayer_wallet (chain_id, address, role, next_nonce) values (${chainId}, ${faucet}, 'faucet', 1)`;
  const [claim] = await sql<{ id: string }[]>`
    insert into service.faucet_claim (chain_id, faucet, wallet, client, awaited_until)
    values (${chainId}, ${faucet}, ${paid}, '127.0.0.1', ${unused}) returning id`;
  const serviceTransaction = async (
    purpose: string,
    claimId: string | null,
    more: Readonly<Record<string, string>>,
  ) => {
    const values = {
      chain_id: chainId,
      sender: faucet,
      purpose,
      claim_id: claimId,
      to: paid,
      data: "0x",
      value: 5,
    };
    const [row] = await sql<
      { id: string }[]
    >`insert into service.service_transaction ${sql({ ...values, ...more })} returning id`;
    return row?.id ?? "";
  };
  const inFlight = await serviceTransaction("faucet_ether", claim?.id ?? "", {
    state: "signed",
    tx_hash: hash,
  });
  const waiting = await serviceTransaction("faucet_usdc", claim?.id ?? "", {});
  const failure = { failure_code: "onchain_revert", failure_message: "it would revert", final_at: unused };
  const failed = await serviceTransaction("sandbox_usdc", null, { state: "failed", ...failure });
  const [transaction] = await sql<{ id: string }[]>`
    insert into service.transaction (chain_id, wallet, nonce, kind, service_transaction_id, "to", data, value, gas_limit)
    values (${chainId}, ${faucet}, 0, 'service_transaction', ${inFlight}, ${paid}, '0x', 5, 21000) returning id`;
  await sql`
    insert into service.attempt (hash, transaction_id, signed, max_fee, priority_fee, fencing_token)
    values (${hash}, ${transaction?.id ?? ""}, '0x00', 2, 1, 1)`;

  const { code, said } = await runLedger(databaseUrl, ["--older", "0"]);
  expect(code).toBe(0);
  expect(tableOf(said, "Wallets")).toMatch(/ 84532 +faucet +0x[fFaA]{40} +1 +1 +\d+ s +none/);
  expect(tableOf(said, "In flight")).toMatch(new RegExp(` 0 +signed .* faucet_ether ${inFlight}`));
  expect(tableOf(said, "Stuck: not signed")).toMatch(new RegExp(`84532 +faucet_usdc ${waiting} +– +0x`));
  expect(tableOf(said, "ServiceTransactions that failed in the last 24 hours")).toMatch(
    new RegExp(`sandbox_usdc ${failed} +\\d+ s +onchain_revert +it would revert`),
  );

  const shown = await runLedger(databaseUrl, ["show", claim?.id ?? ""]);
  expect(shown.code).toBe(0);
  for (const part of [
    `Faucet claim ${claim?.id}`,
    `Service transaction ${inFlight}`,
    `Service transaction ${waiting}`,
    hash,
  ]) {
    expect(shown.said).toContain(part);
  }
  expect(tableOf(shown.said, `Service transaction ${waiting}`)).toMatch(/purpose +faucet_usdc/);
  expect((await runLedger(databaseUrl, ["show", failed])).said).toContain(
    "No transaction of it was ever signed.",
  );
  const stopped = await runLedger(databaseUrl, ["stop", "wallet", faucet, "--reason", "somebody drains it"]);
  expect(stopped.said).not.toContain("No writer");
  await runLedger(databaseUrl, ["resume", "wallet", faucet]);
});
