/** The expected series and claims, from the chain's logs. */
import { type ChainEvent, isBefore } from "../../src/support/logs.ts";
import type { Row } from "../../src/support/rows.ts";
import { big, bondOf, type ChainState, checksummed, named, submitterOf } from "./chain-state.ts";
import { nameOf, newestFirst, positionOf } from "./expected-lists.ts";

type Interval = "day" | "week" | "month";

/** The first UTC day of the bucket with a time, by the calendar. */
function firstDay(interval: Interval, time: bigint): Date {
  const date = new Date(Number(time) * 1000);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  if (interval === "month") return new Date(Date.UTC(year, month, 1));
  if (interval === "day") return new Date(Date.UTC(year, month, day));
  // Sunday is 0: six days after Monday.
  return new Date(Date.UTC(year, month, day - ((date.getUTCDay() + 6) % 7)));
}

function nextBucket(interval: Interval, start: Date): Date {
  const [year, month, day] = [start.getUTCFullYear(), start.getUTCMonth(), start.getUTCDate()];
  if (interval === "month") return new Date(Date.UTC(year, month + 1, 1));
  return new Date(Date.UTC(year, month, day + (interval === "week" ? 7 : 1)));
}

const nameOfDay = (day: Date) => day.toISOString().slice(0, 10);
const timeOf = ({ position }: ChainEvent) => big(position.block_timestamp);

/** The events and values of each metric; a metric of buyers counts them by itself. */
const metrics: Readonly<Record<string, { event: string; unit: string; value: string | undefined }>> = {
  premiums: { event: "PolicyPurchased", unit: "usdc", value: "premium" },
  cover: { event: "PolicyPurchased", unit: "usdc", value: "coverage" },
  policies: { event: "PolicyPurchased", unit: "count", value: undefined },
  payouts: { event: "PolicyTriggered", unit: "dollars", value: "bondAmount" },
  triggers: { event: "PolicyTriggered", unit: "count", value: undefined },
  burns: { event: "Transfer", unit: "token", value: "value" },
  bond_sales: { event: "Bought", unit: "usdc", value: "priceUSDC" },
};

/** The values of the buckets with events, by their first day. */
function valuesOf({ events }: ChainState, metric: string, interval: Interval, product: string | undefined) {
  const buckets = new Map<string, { value: bigint; events: number }>();
  const add = (bucket: string, value: bigint) => {
    const { value: known, events: count } = buckets.get(bucket) ?? { value: 0n, events: 0 };
    buckets.set(bucket, { value: known + value, events: count + 1 });
  };
  const bucketOf = (event: ChainEvent) => nameOfDay(firstDay(interval, timeOf(event)));
  const known = metrics[metric];
  if (known) {
    for (const event of named(events, known.event)) {
      if (product !== undefined && event.args.productId !== product) continue;
      add(bucketOf(event), known.value === undefined ? 1n : big(event.args[known.value]));
    }
    return buckets;
  }
  const firsts = new Map<unknown, string>();
  const counted = new Set<string>();
  for (const event of named(events, "PolicyPurchased")) {
    const bucket = bucketOf(event);
    const { buyer } = event.args;
    if (!firsts.has(buyer)) firsts.set(buyer, bucket);
    const isNew = firsts.get(buyer) === bucket;
    if (isNew !== (metric === "new_buyers") || counted.has(`${bucket} ${buyer}`)) continue;
    counted.add(`${bucket} ${buyer}`);
    add(bucket, 1n);
  }
  return buckets;
}

/** The series from the bucket of `from` to that of the newest block, or of the last second before `to`. */
export function series(
  chainState: ChainState,
  { metric, interval, product }: { metric: string; interval: Interval; product?: string },
  from: bigint,
  to: bigint = chainState.now + 1n,
): Row {
  const values = valuesOf(chainState, metric, interval, product);
  const buckets: Row[] = [];
  const last = to <= chainState.now ? to - 1n : chainState.now;
  for (
    let start = firstDay(interval, from);
    BigInt(start.getTime() / 1000) <= last;
    start = nextBucket(interval, start)
  ) {
    const end = BigInt(nextBucket(interval, start).getTime() / 1000);
    const day = nameOfDay(start);
    const { value = 0n, events = 0 } = values.get(day) ?? {};
    buckets.push({
      ...{ day, start: String(start.getTime() / 1000), end: String(end), complete: end <= chainState.now },
      ...{ value: String(value), events },
    });
  }
  const unit = metrics[metric]?.unit ?? "count";
  return { metric, interval, product: product ?? null, unit, count: buckets.length, buckets };
}

/** The time of the first of the three observations that paid a policy: the last with a count of 1 by the shield of the third one. */
function firstObservation(
  events: readonly ChainEvent[],
  { position, args: { policyId } }: ChainEvent,
): bigint {
  const before = named(events, "ConfirmationObserved").filter(
    (other) => isBefore(other.position, position) && other.args.policyId === policyId,
  );
  const third = before.at(-1);
  const first = before.findLast(({ address, args }) => address === third?.address && args.count === 1);
  return big(first?.position.block_timestamp);
}

/** Triggered policies. The first observation is that of a count of 1 before the trigger; no adapter is replaced here. */
export function claims({ events, policies }: ChainState): Row[] {
  return newestFirst(named(events, "PolicyTriggered")).map((event) => {
    const { productId, policyId, buyer, bondAmount } = event.args;
    const policy = policies.find((other) => other.product_id === productId && other.policy_id === policyId);
    const first = firstObservation(events, event);
    const { txHash, blockNumber, logIndex } = positionOf(event);
    return {
      product_id: productId,
      product_name: nameOf(productId),
      policy_id: policyId,
      buyer: checksummed(buyer),
      submitter: submitterOf(events, event),
      paid: bondAmount,
      bond_epoch: bondOf(events, event)?.args.epochId,
      ...{ coverage: policy?.coverage, payout: policy?.payout, premium: policy?.premium },
      ...{ asset: policy?.asset, strike_price: policy?.strike, trigger_price: policy?.trigger_price },
      bought_at: policy?.created_at,
      first_observed_at: String(first),
      triggered_at: String(timeOf(event)),
      seconds_to_trigger: Number(timeOf(event) - big(policy?.created_at)),
      seconds_from_first_observation: Number(timeOf(event) - first),
      ...{ tx_hash: txHash, block_number: blockNumber, log_index: logIndex },
      block_timestamp: event.position.block_timestamp,
    };
  });
}
