import type { Context } from "hono";
import type { Address } from "viem";
import type { ReadClient } from "../../lib/chain/client.ts";
import { type PurchaseMode, requireRelayed } from "../buying/purchase-mode.ts";
import type { ChainHead } from "../chain/block.ts";
import type { LiveScans } from "../chain/live-scans.ts";
import { readAtOneBlock } from "../chain/one-block.ts";
import { bondOf } from "../http/bond-inputs.ts";
import type { Api } from "../http/env.ts";
import { planCancellation, planListing, planListingPurchase, planWithdrawal } from "./listing.ts";
import type { Plan, PlanContext } from "./plan.ts";
import { planPolicyPurchase } from "./policy-purchase.ts";
import { planRedemption } from "./redemption.ts";
import {
  prepareCancellationRoute,
  prepareListingPurchaseRoute,
  prepareListingRoute,
  preparePolicyRoute,
  prepareRedemptionRoute,
  prepareTriggerRoute,
  prepareWithdrawalRoute,
} from "./routes.ts";
import type { PreparedAction, PreparedBody } from "./schemas.ts";
import { createSimulator, simulate } from "./simulate.ts";
import { sendCallsBody, stepBody } from "./steps.ts";
import { planTrigger } from "./trigger.ts";

export type PrepareParts = {
  readonly deployment: { readonly chainId: number };
  readonly liveScans: LiveScans;
  readonly purchaseMode: PurchaseMode;
  /** For simulations only. */
  readonly simulationClient: ReadClient;
};

/** How long a prepared action holds if nothing ends it earlier, in seconds: its figures change with every block. */
const VALID_SECONDS = 600n;
/** The last second in which the action holds: at most ten minutes after the block, and not before it. */
function validUntil({ timestamp }: ChainHead, { endsAt }: Plan): bigint {
  const earliest = [timestamp + VALID_SECONDS, ...endsAt].reduce((a, b) => (a < b ? a : b));
  return earliest > timestamp ? earliest : timestamp;
}

/** Prepares what a wallet signs itself: one route for each action. */
export function addPrepareRoutes(app: Api, parts: PrepareParts): void {
  const { liveScans, deployment, purchaseMode } = parts;
  const { chainId } = deployment;
  const simulator = createSimulator(parts.simulationClient);

  /** Plans an action at one block, simulates it there, and makes the answer. */
  async function prepare(
    c: Context,
    action: PreparedAction,
    from: Address,
    plan: (context: PlanContext) => Promise<Plan>,
  ): Promise<PreparedBody> {
    const protocol = liveScans.protocol();
    const { contracts } = protocol;
    const { reads } = liveScans;
    const { block, value: planned } = await readAtOneBlock(liveScans.reader, (at) =>
      plan({ reads, ...protocol, block: at, from }),
    );
    const { summary, issues, steps } = planned;
    const simulation = await simulate(simulator, contracts, from, steps, block);
    c.header("x-chain-block", String(block.number));
    c.header("Cache-Control", "no-store");
    return {
      ...{ action, chainId, from },
      asOf: {
        blockNumber: String(block.number),
        blockHash: block.hash,
        timestamp: String(block.timestamp),
      },
      validUntil: String(validUntil(block, planned)),
      summary,
      issues: [...issues],
      steps: steps.map((step) => stepBody(contracts, step)),
      sendCalls: sendCallsBody(contracts, chainId, from, steps),
      simulation,
    };
  }

  app.openapi(prepareRedemptionRoute, async (c) => {
    const { from, usdAmount, ...bond } = c.req.valid("json");
    const request = { epochId: bondOf(bond), usdAmount };
    return c.json(await prepare(c, "redeem", from, (context) => planRedemption(context, request)), 200);
  });
  app.openapi(prepareListingRoute, async (c) => {
    const { from, amount, totalPriceUsdc, ...bond } = c.req.valid("json");
    const request = { epochId: bondOf(bond), amount, totalPriceUsdc };
    return c.json(await prepare(c, "list", from, (context) => planListing(context, request)), 200);
  });
  app.openapi(prepareListingPurchaseRoute, async (c) => {
    const { from, ...request } = c.req.valid("json");
    return c.json(await prepare(c, "buy", from, (context) => planListingPurchase(context, request)), 200);
  });
  app.openapi(prepareCancellationRoute, async (c) => {
    const { from, ...request } = c.req.valid("json");
    return c.json(await prepare(c, "cancel", from, (context) => planCancellation(context, request)), 200);
  });
  app.openapi(prepareWithdrawalRoute, async (c) => {
    const { from } = c.req.valid("json");
    return c.json(await prepare(c, "withdraw", from, planWithdrawal), 200);
  });
  app.openapi(prepareTriggerRoute, async (c) => {
    const { from, ...key } = c.req.valid("json");
    return c.json(await prepare(c, "trigger", from, (context) => planTrigger(context, key)), 200);
  });
  app.openapi(preparePolicyRoute, async (c) => {
    const { from, ...request } = c.req.valid("json");
    if (request.relayed) requireRelayed(purchaseMode);
    return c.json(await prepare(c, "purchase", from, (context) => planPolicyPurchase(context, request)), 200);
  });
}
