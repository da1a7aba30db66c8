/**
 * A writer that reaches the database but not the chain. What this proves: a writer that reaches both takes its wallets
 * over, each purchase is bought once, and purchases still work when the first writer's node is back.
 */
import { beforeAll, expect, test } from "vitest";
import { waitFor } from "../../scripts/local/wait.ts";
import type { TestChain } from "../support/chain.ts";
import { newBuyer, policiesOnChain, purchaseRequest, type TestLedger } from "../support/ledger.ts";
import type { RpcProxy } from "../support/rpc-proxy.ts";
import { startStack } from "../support/stack.ts";
import { startWriterSetup } from "./support/writer-setup.ts";

let chain: TestChain;
let proxy: RpcProxy;
let ledger: TestLedger;

beforeAll(async () => {
  const { stack, ...setup } = await startWriterSetup();
  ({ chain, proxy, ledger } = setup);
  await startStack({ chain, databaseUrl: stack.databaseUrl, services: ["writer"] });
});

async function owner(): Promise<string | null> {
  const [row] = await ledger.connection.sql<{ owner: string | null }[]>`
    select lease_owner as owner from service.relayer_wallet`;
  return row?.owner ?? null;
}

test("a writer without a node gives up its wallets, and the other writer buys", async () => {
  const buyer = await newBuyer(chain);
  const before = await owner();
  const ids = [await ledger.buy(purchaseRequest(buyer.address), "before")];
  await Promise.all(ids.map((id) => ledger.settled(id)));
  // The first writer no longer reaches its node.
  proxy.intercept(async () => "lost");
  for (let n = 0; n < 5; n += 1) ids.push(await ledger.buy(purchaseRequest(buyer.address), `after-${n}`));
  await waitFor({
    what: "the other writer to take the wallet over",
    probe: async () => {
      const now = await owner();
      return now !== null && now !== before ? true : undefined;
    },
  });
  await Promise.all(ids.map((id) => ledger.settled(id)));
  expect(await policiesOnChain(chain, buyer.address)).toHaveLength(ids.length);

  proxy.intercept();
  const id = await ledger.buy(purchaseRequest(buyer.address), "back");
  await ledger.settled(id);
  expect(await policiesOnChain(chain, buyer.address)).toHaveLength(ids.length + 1);
});
