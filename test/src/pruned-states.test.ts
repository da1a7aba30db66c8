import { expect, test } from "vitest";
import { termsOf } from "../../scripts/local/protocol/terms.ts";
import { startChain } from "../support/chain.ts";
import { newBuyer, usdc } from "../support/ledger.ts";
import * as act from "../support/protocol-actions.ts";
import { startStack } from "../support/stack.ts";
import { openRows } from "./support/rows.ts";

const KEPT_STATES = 40;

test("the node dropped the state of a purchase while the indexer was away: its price is 0, and later purchases keep their prices over a restart", async () => {
  const chain = await startChain({ retired: false, keptStates: KEPT_STATES });
  const protocol = act.openProtocol(chain.deployment, chain.url);
  const buyer = await newBuyer(chain);
  const buy = () => act.purchase(protocol, buyer, termsOf("FLASHBTC1H-001"), usdc(100));
  // The start block's state is gone at the first start.
  await chain.client.mine({ blocks: 2 * KEPT_STATES });
  const stack = await startStack({ chain, services: ["indexer"] });
  const rows = openRows(stack.databaseUrl);
  const prices = async () => {
    await rows.caughtUp(chain.client);
    const policies = await rows.rows("policy");
    return policies.map(({ policy_id, price_snapshot }) => [policy_id, price_snapshot]).sort();
  };
  try {
    await buy();
    const [[, price] = []] = await prices();
    expect(price).toMatch(/^[1-9]\d+$/);
    await stack.stopService("indexer");
    await buy();
    await chain.client.mine({ blocks: 2 * KEPT_STATES });
    await stack.start("indexer");
    await buy();
    expect((await prices()).slice(1)).toEqual([
      ["2", "0"],
      ["3", price],
    ]);
    await stack.stopService("indexer");
    await buy();
    await stack.start("indexer");
    expect((await prices()).slice(1)).toEqual([
      ["2", "0"],
      ["3", price],
      ["4", price],
    ]);
  } finally {
    await rows.close();
  }
});
