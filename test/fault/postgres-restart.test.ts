/**
 * Postgres is stopped and started, and crashes, during purchases. What this proves: the processes reconnect without help, clients
 * that retry get their policies, and each key buys one policy.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, test } from "vitest";
import { waitFor } from "../../scripts/local/wait.ts";
import { type OwnPostgres, startOwnPostgres } from "../support/own-postgres.ts";
import {
  type CompletedPurchase,
  expectNoFalseFailures,
  expectNoNonceGaps,
  expectOnePolicyPerKey,
} from "./support/assertions.ts";
import { buyWithRetries } from "./support/purchase-client.ts";
import { type PurchaseSetup, startPurchaseSetup } from "./support/purchase-setup.ts";

let setup: PurchaseSetup;
let postgres: OwnPostgres;

beforeAll(async () => {
  postgres = await startOwnPostgres("purchases");
  setup = await startPurchaseSetup({ buyers: 3, databaseUrl: postgres.databaseUrl });
});

const faults = [
  ["stopped for three seconds", () => postgres.stop().then(() => sleep(3000))],
  ["killed", () => postgres.kill()],
] as const;

/** Each buyer buys one policy after the other until `stopBuying`. */
function startBuying(name: string) {
  let going = true;
  const purchases = setup.buyers.map((): CompletedPurchase[] => []);
  const all = Promise.all(
    setup.buyers.map(async ({ buy }, buyer) => {
      for (let n = 0; going; n += 1) {
        const planned = { buyer, key: `${name}-${n}` };
        const call = () => buy({}, { "idempotency-key": planned.key });
        purchases[buyer]?.push({ planned, answers: [await buyWithRetries(call, "impatient")] });
      }
    }),
  );
  let fault: unknown;
  all.catch((error: unknown) => {
    fault = error;
  });
  return {
    /** Waits until each buyer has this many more policies. */
    async waitForMore(count: number): Promise<void> {
      const wanted = purchases.map((own) => own.length + count);
      await waitFor({
        what: `each buyer to have ${count} more`,
        probe: () => purchases.every((own, buyer) => own.length >= (wanted[buyer] ?? 0)) || undefined,
        giveUpReason: () => (fault === undefined ? undefined : String(fault)),
      });
    },
    async stopBuying(): Promise<CompletedPurchase[]> {
      going = false;
      await all;
      return purchases.flat();
    },
  };
}

test.each(faults)("Postgres is %s: each key buys one policy", async (name, stop) => {
  const fromBlock = (await setup.chain.client.getBlockNumber()) + 1n;
  const { waitForMore, stopBuying } = startBuying(name);
  await waitForMore(1);
  await stop();
  await postgres.start();
  // The first of these two may have been bought before the restart.
  await waitForMore(2);
  const purchases = await stopBuying();
  await expectOnePolicyPerKey(setup, purchases, fromBlock);
  await expectNoNonceGaps(setup);
  await expectNoFalseFailures(setup);
});
