/** The expected events, derived from the chain's logs and views, without index and outbox. */
import { type Address, getAddress } from "viem";
import { allTerms } from "../../../scripts/local/protocol/terms.ts";
import { type Arguments, burnPriceOf, type ChainEvent, chainEvents } from "../../src/support/logs.ts";
import { queueOf } from "../../src/support/queue.ts";
import * as views from "../../src/support/views.ts";
import type { TestChain } from "../../support/chain.ts";
import { dueOnChain } from "../../support/due-on-chain.ts";

export type ExpectedEvent = {
  type: string;
  parties: string[];
  blockNumber: string;
  blockHash: string;
  txHash: string | null;
  createdAt: string;
  data: Arguments;
};

const names = new Map<unknown, string>(allTerms.map(({ productId, name }) => [productId, name]));
const address = (value: unknown): Address => getAddress(String(value));
const orNull = (value: unknown) => (value === null || value === undefined ? null : address(value));
const isoTime = (seconds: unknown) => new Date(Number(seconds) * 1000).toISOString();
const wallets = (...parties: unknown[]) => [...new Set(parties.map((party) => String(party).toLowerCase()))];

type LogPart = Pick<ExpectedEvent, "type" | "parties" | "data">;

/** The event of a log; undefined for a log without one. */
function expectedOf(
  event: ChainEvent,
  all: readonly ChainEvent[],
  policies: readonly Arguments[],
): LogPart | undefined {
  const { name, args, position } = event;
  const ofTransaction = all.filter((other) => other.position.tx_hash === position.tx_hash);
  // One transaction may pay several policies of a holder: each bond comes right before its policy.
  const [before, after] = [
    ofTransaction.slice(0, ofTransaction.indexOf(event)),
    ofTransaction.slice(ofTransaction.indexOf(event)),
  ];
  const find = (events: readonly ChainEvent[], wanted: string, fits: (args: Arguments) => boolean) =>
    events.find((other) => other.name === wanted && fits(other.args))?.args;
  const product = {
    productId: args.productId,
    productName: names.get(args.productId),
    policyId: args.policyId,
  };
  const listed = () => find(all, "Listed", (other) => other.listingId === args.listingId);

  switch (name) {
    case "PolicyPurchased": {
      const policy = policies.find(
        (row) => row.product_id === args.productId && row.policy_id === args.policyId,
      );
      const data = {
        ...product,
        ...{ buyer: address(args.buyer), holder: address(args.buyer), paidBy: address(args.paidBy) },
        ...{ shield: orNull(policy?.shield), coverageAmount: args.coverage, payoutAmount: args.payout },
        ...{ premiumPaid: args.premium, priceSnapshot: policy?.price_snapshot },
        ...{ purchasedAt: position.block_timestamp, waitingEndsAt: null },
        expiresAt: policy?.expires_at,
      };
      return { type: "policy_purchased", parties: wallets(args.buyer, args.paidBy), data };
    }
    case "PolicyTriggered": {
      const bond = find(before.toReversed(), "BondIssued", ({ to }) => to === args.buyer);
      const data = {
        ...{ ...product, buyer: address(args.buyer), bondId: bond?.epochId, bondAmount: args.bondAmount },
        ...{ reason: args.reason, triggeredAt: position.block_timestamp },
      };
      return { type: "policy_triggered", parties: wallets(args.buyer), data };
    }
    case "BondIssued": {
      const policy = find(after, "PolicyTriggered", ({ buyer }) => buyer === args.to);
      const data = {
        ...{ bondId: args.epochId, holder: address(args.to), amount: args.usdAmount },
        ...{ productId: policy?.productId, policyId: policy?.policyId },
      };
      return { type: "bond_minted", parties: wallets(args.to), data };
    }
    case "BondQueued": {
      const entry = queueOf(all).find(({ event: queued }) => queued === event);
      const data = {
        ...{ bondId: args.epochIdBond, holder: address(args.holder), amount: args.usdAmount },
        ...{ queueId: entry?.id, targetEpoch: args.targetThrottleEpoch },
      };
      return { type: "bond_queued", parties: wallets(args.holder), data };
    }
    case "BondRedeemed": {
      const entry = queueOf(all).find(({ payment }) => payment === event);
      const data = {
        ...{ bondId: args.epochId, holder: address(args.holder), amount: args.usdAmount },
        ...{ tokenAmount: args.luminaAmount, priceUsed: args.priceUsed, queueId: entry?.id ?? null },
      };
      return { type: "bond_redeemed", parties: wallets(args.holder), data };
    }
    case "Listed": {
      const { listingId, epochId: bondId, amount, priceUSDC: price } = args;
      const data = { listingId, seller: address(args.seller), bondId, amount, price };
      return { type: "listing_created", parties: wallets(args.seller), data };
    }
    case "Bought": {
      const { listingId, priceUSDC: price, sellerFee, buyerFee } = args;
      const data = {
        ...{
          listingId,
          seller: address(args.seller),
          buyer: address(args.buyer),
          price,
          sellerFee,
          buyerFee,
        },
        ...{ bondId: listed()?.epochId, amount: listed()?.amount },
      };
      return { type: "listing_purchased", parties: wallets(args.buyer, args.seller), data };
    }
    case "Cancelled": {
      const data = {
        ...{ listingId: args.listingId, seller: address(args.seller), bondId: listed()?.epochId },
        ...{ amount: listed()?.amount, emergency: false },
      };
      return { type: "listing_cancelled", parties: wallets(args.seller), data };
    }
    case "Transfer": {
      const report = (kind: string) =>
        ofTransaction.find((other) => other.name === kind && other.args.tokenBurned === args.value)?.args;
      const burn = report("BurnExecuted");
      const other = report("DoubleBurnExecuted") ? "buyback_engine" : "direct";
      const data = {
        ...{ burner: address(args.from), source: burn ? "twap_burner" : other, tokenAmount: args.value },
        ...{ usdcSpent: burn?.usdcSpent ?? "0" },
        effectivePrice: burn ? String(burnPriceOf(burn.effectivePrice)) : null,
      };
      return { type: "token_burned", parties: [], data };
    }
    default:
      return undefined;
  }
}

type OfLog = ExpectedEvent & { logIndex: number };

/** The policies that became due. Their answers have logs, which are no events of a subscriber themselves. */
async function expectedDue(chain: TestChain): Promise<OfLog[]> {
  return (await dueOnChain(chain)).map((due) => {
    const { productId, policyId, buyer, blockHash, transactionHash: txHash, logIndex, dueAt } = due;
    const data = {
      ...{ productId, productName: names.get(productId), policyId: String(policyId), buyer: address(buyer) },
      ...{ coverageAmount: String(due.coverage), payoutAmount: String(due.payout) },
      ...{ triggerPrice: String(due.triggerPrice), expiresAt: String(due.expiresAt), dueAt: String(dueAt) },
      ...{ price: String(due.price), priceAt: String(due.priceAt) },
    };
    return {
      ...{ type: "policy_due", parties: wallets(buyer), data, createdAt: isoTime(due.blockTime) },
      ...{ blockNumber: String(due.blockNumber), blockHash, txHash, logIndex },
    };
  });
}

/** The events of logs, in chain order. */
export async function expectedLogEvents(chain: TestChain): Promise<ExpectedEvent[]> {
  const { client, deployment } = chain;
  const all = await chainEvents(client, deployment);
  const policies = await views.policies(client, deployment);
  const ofLogs = all.flatMap((event): OfLog[] => {
    const expected = expectedOf(event, all, policies);
    const { block_number, block_hash, tx_hash, block_timestamp, log_index: logIndex } = event.position;
    const position = { blockNumber: block_number, blockHash: block_hash, txHash: tx_hash, logIndex };
    return expected ? [{ ...expected, ...position, createdAt: isoTime(block_timestamp) }] : [];
  });
  return [...ofLogs, ...(await expectedDue(chain))]
    .sort((a, b) => Number(a.blockNumber) - Number(b.blockNumber) || a.logIndex - b.logIndex)
    .map(({ logIndex, ...event }) => event);
}

/** The expiries, by policy: each in the first block after the end of the cover. */
export async function expectedExpiries({ client, deployment }: TestChain): Promise<ExpectedEvent[]> {
  const head = await client.getBlock();
  const blocks = await Promise.all(
    Array.from({ length: Number(head.number) + 1 }, (_, n) => client.getBlock({ blockNumber: BigInt(n) })),
  );
  const policies = await views.policies(client, deployment);
  return policies.flatMap((policy) => {
    if (policy.triggered_at !== null) return [];
    const block = blocks.find(({ timestamp }) => timestamp > BigInt(String(policy.expires_at)));
    if (!block) return [];
    const data = {
      ...{
        productId: policy.product_id,
        productName: names.get(policy.product_id),
        policyId: policy.policy_id,
      },
      ...{ buyer: address(policy.buyer), coverageAmount: policy.coverage, expiresAt: policy.expires_at },
    };
    return {
      ...{ type: "policy_expired", parties: wallets(policy.buyer), data },
      ...{ blockNumber: String(block.number), blockHash: block.hash, txHash: null },
      createdAt: isoTime(block.timestamp),
    };
  });
}
