/**
 * A copy of the database's files, made while the server was stopped, is put back after purchases. What this proves: each key has one
 * policy on the chain, and all its calls answer with that one, whichever of two writers and wallets bought it.
 */
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { lower } from "../../lib/lower.ts";
import { privateKeyOf } from "../../scripts/local/anvil.ts";
import { type OwnPostgres, startOwnPostgres } from "../support/own-postgres.ts";
import { type Stack, startStack } from "../support/stack.ts";
import {
  type CompletedPurchase,
  expectNoFalseFailures,
  expectOnePolicyPerKey,
} from "./support/assertions.ts";
import { buyWithRetries } from "./support/purchase-client.ts";
import { type PurchaseSetup, planPurchases, relayers, startPurchaseSetup } from "./support/purchase-setup.ts";

let postgres: OwnPostgres;
let setup: PurchaseSetup;
/** Its writer has the second wallet, that of `setup` the first. */
let other: Stack;

const [first, second] = relayers;

beforeAll(async () => {
  postgres = await startOwnPostgres("purchases");
  const { databaseUrl } = postgres;
  setup = await startPurchaseSetup({ buyers: 2, databaseUrl, relayerKeys: [privateKeyOf(first)] });
  const relayerKeys = [privateKeyOf(second)];
  other = await startStack({ chain: setup.chain, services: ["writer"], databaseUrl, relayerKeys });
});

/** Buys once with each key, all at once. */
async function buyAll(name: string): Promise<CompletedPurchase[]> {
  return Promise.all(
    planPurchases(setup, name, 8).map(async (planned) => {
      const call = () =>
        setup.buyers[planned.buyer]?.buy({}, { "idempotency-key": planned.key }) ??
        Promise.reject(new Error("no such buyer"));
      return { planned, answers: [await buyWithRetries(call, "impatient")] };
    }),
  );
}

/** With owners and modes: Postgres starts with no others. */
const copyFolder = (from: string, to: string) => execFileSync("cp", ["-a", from, to], { stdio: "ignore" });

/** Runs `work` while the server and both writers are stopped, and starts one of them again. */
async function whileStopped(work: () => void, started: Stack): Promise<void> {
  for (const stack of [setup.stack, other]) await stack.stopService("writer");
  await postgres.stop();
  work();
  await postgres.start();
  await started.start("writer");
}

const unknown = async () =>
  (
    await setup.connection.sql<{ address: string }[]>`
    select address from service.relayer_wallet where unknown_from is not null`
  ).map(({ address }) => address);

test("a copy from before eight purchases is put back, and their clients repeat the calls: one policy for each key", async () => {
  const copy = `${postgres.dataDir}-copy`;
  const before = await buyAll("before");
  await whileStopped(() => copyFolder(postgres.dataDir, copy), other);
  const bought = await buyAll("lost");
  await whileStopped(() => {
    rmSync(postgres.dataDir, { recursive: true });
    copyFolder(copy, postgres.dataDir);
  }, setup.stack);
  const repeating = buyAll("lost");
  // The first writer has not the key of the wallet that bought them, and signs nothing before it is known what they were.
  await expect.poll(unknown).toEqual([lower(second.address)]);
  await other.start("writer");
  const repeated = await repeating;
  await expectOnePolicyPerKey(setup, [...before, ...repeated]);
  await expectNoFalseFailures(setup);
  // The copy lacks the purchases' ids: those of their receipts are new.
  const policies = (purchases: readonly CompletedPurchase[]) =>
    purchases.map(({ planned, answers }) => [planned.key, ...answers.map(({ receipt }) => receipt.policyId)]);
  expect(policies(repeated)).toEqual(policies(bought));
});
