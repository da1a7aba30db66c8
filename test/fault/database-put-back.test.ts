/**
 * A copy of the database's files, made while the server was stopped, is put back after purchases. What this proves: each key has one
 * policy on the chain, and all its calls answer with that one, whichever of two writers and wallets bought it.
 */
import { beforeAll, expect, test } from "vitest";
import { lower } from "../../lib/lower.ts";
import { privateKeyOf } from "../../scripts/local/anvil.ts";
import { type OwnPostgres, startOwnPostgres } from "../support/own-postgres.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { expectNoFalseFailures, expectOnePolicyPerKey } from "./support/assertions.ts";
import {
  buyAll,
  type PurchaseSetup,
  policiesByKey,
  relayers,
  startPurchaseSetup,
} from "./support/purchase-setup.ts";

let postgres: OwnPostgres;
let setup: PurchaseSetup;
/** Its writer has the second wallet, that of `setup` the first. */
let other: Stack;

const [first, second] = relayers;
const KEYS = 8;

beforeAll(async () => {
  postgres = await startOwnPostgres("purchases");
  const { databaseUrl } = postgres;
  setup = await startPurchaseSetup({ buyers: 2, databaseUrl, relayerKeys: [privateKeyOf(first)] });
  const relayerKeys = [privateKeyOf(second)];
  other = await startStack({ chain: setup.chain, services: ["writer"], databaseUrl, relayerKeys });
});

/** Runs `work` while the server and both writers are stopped, and starts one of them again. */
async function whileStopped(work: () => Promise<void> | void, started: Stack): Promise<void> {
  for (const stack of [setup.stack, other]) await stack.stopService("writer");
  await postgres.stop();
  await work();
  await postgres.start();
  await started.start("writer");
}

const unknown = async () =>
  (
    await setup.connection.sql<{ address: string }[]>`
    select address from service.relayer_wallet where unknown_from is not null`
  ).map(({ address }) => address);

test("a copy from before eight purchases is put back, and their clients repeat the calls: one policy for each key", async () => {
  const before = await buyAll(setup, "before", KEYS);
  await whileStopped(() => postgres.copy("before"), other);
  const bought = await buyAll(setup, "lost", KEYS);
  await whileStopped(() => postgres.putBack("before"), setup.stack);
  const repeating = buyAll(setup, "lost", KEYS);
  // The first writer has not the key of the wallet that bought them, and signs nothing before it is known what they were.
  await expect.poll(unknown).toEqual([lower(second.address)]);
  await other.start("writer");
  const repeated = await repeating;
  await expectOnePolicyPerKey(setup, [...before, ...repeated]);
  await expectNoFalseFailures(setup);
  // The copy lacks the purchases' ids: those of their receipts are new.
  expect(policiesByKey(repeated)).toEqual(policiesByKey(bought));
});
