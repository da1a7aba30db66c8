/** `npm run ledger` on service transactions in each of their states. */
import type { Sql } from "postgres";
import { numberToHex } from "viem";
import { beforeAll, expect, test } from "vitest";
import { claimFaucet } from "../../api/faucet/admission.ts";
import { connect } from "../../lib/db/connect.ts";
import { giveUp } from "../../workers/ledger/service-transactions.ts";
import { atEnd } from "../support/cleanup.ts";
import { freshDatabase } from "../support/database.ts";
import {
  assignServiceTransactions,
  holdFaucet,
  signServiceTransactions,
} from "../support/service-transactions.ts";
import { runLedger, tableOf } from "./support/ledger-command.ts";

let databaseUrl: string;
let sql: Sql;

beforeAll(async () => {
  databaseUrl = await freshDatabase();
  const connection = connect(databaseUrl, { name: "test", max: 1 });
  atEnd(connection.close);
  sql = connection.sql;
});

test("the overview lists waiting, signed and failed service transactions, and a claim shows its two service transactions", async () => {
  const chainId = 84532;
  const [faucet, token] = [`0x${"fa".repeat(20)}`, `0x${"dc".repeat(20)}`] as const;
  const lease = await holdFaucet(sql, chainId, faucet);
  /** A claim with the ids of its transfers. */
  const newClaim = async (n: number) => {
    const wallet = numberToHex(n, { size: 20 });
    const funds = { block: 1n, balance: 10n ** 30n, gas: 1n };
    const more = { client: `192.0.2.${n}`, waitMs: 1, funds };
    const claim = await claimFaucet(sql, { chainId, faucet, token, wallet, ...more });
    if (!("claimId" in claim)) throw new Error(claim.outcome);
    const rows = await sql<{ id: string }[]>`
      select id from service.service_transaction where claim_id = ${claim.claimId} order by purpose`;
    const [ether = "", usdc = ""] = rows.map(({ id }) => id);
    return { id: claim.claimId, ether, usdc };
  };
  const claim = await newClaim(1);
  const { ether: inFlight, usdc: waiting } = claim;
  await signServiceTransactions(sql, lease, [inFlight]);
  const { ether: nonceOnly } = await newClaim(2);
  await assignServiceTransactions(sql, lease, [nonceOnly]);
  const [upkeep] = await sql<{ id: string }[]>`
    insert into service.service_transaction (chain_id, sender, purpose, "to", data, value)
    values (${chainId}, ${faucet}, 'sandbox_usdc', ${token}, '0x', 0) returning id`;
  const failed = upkeep?.id ?? "";
  await giveUp(sql, { id: failed, claimId: null }, { code: "onchain_revert", message: "it would revert" });
  const [form] = await sql<{ hash: string }[]>`select hash from service.attempt`;
  const hash = form?.hash ?? "";

  const { code, said } = await runLedger(databaseUrl, ["--older", "0"]);
  expect(code).toBe(0);
  expect(tableOf(said, "Wallets")).toMatch(/ 84532 +faucet +0x[fFaA]{40} +2 +0 +2 +\d+ s +test/);
  expect(tableOf(said, "In flight")).toMatch(new RegExp(` 0 +broadcast .* faucet_ether ${inFlight}`));
  expect(tableOf(said, "In flight")).toMatch(
    new RegExp(` 1 +accepted +\\d+ s +0 +– +– +never +faucet_ether ${nonceOnly}`),
  );
  expect(tableOf(said, "Stuck: not signed")).toMatch(new RegExp(`84532 +faucet_usdc ${waiting} +– +0x`));
  expect(tableOf(said, "Service transactions that failed in the last 24 hours")).toMatch(
    new RegExp(`sandbox_usdc ${failed} +\\d+ s +onchain_revert +it would revert`),
  );

  const shown = await runLedger(databaseUrl, ["show", claim.id]);
  expect(shown.code).toBe(0);
  for (const part of [
    `Faucet claim ${claim.id}`,
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
  const { said: half } = await runLedger(databaseUrl, ["show", nonceOnly]);
  expect(tableOf(half, `Transaction with nonce 1 from ${faucet}: open`)).toContain("none");
  const stopped = await runLedger(databaseUrl, ["stop", "wallet", faucet, "--reason", "somebody drains it"]);
  expect(stopped.said).not.toContain("No writer");
  await runLedger(databaseUrl, ["resume", "wallet", faucet]);
});
