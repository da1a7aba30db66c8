/** The expected sums of open policies and of products, from the chain. */
import { hexToString } from "viem";
import { catalogueTerms } from "../../../scripts/local/protocol/terms.ts";
import type { Row } from "../../src/support/rows.ts";
import type * as views from "../../src/support/views.ts";
import { big, type ChainState, named } from "./chain-state.ts";
import { nameOf, statusOf } from "./expected-lists.ts";

type Policy = views.Policy;

const total = (rows: readonly Row[], field: string) => rows.reduce((sum, row) => sum + big(row[field]), 0n);

/** The quotient with 6 digits, cut off. */
export function quotient(part: bigint, whole: bigint): string | null {
  if (whole === 0n) return null;
  const millionths = (part * 1_000_000n) / whole;
  return `${millionths / 1_000_000n}.${String(millionths % 1_000_000n).padStart(6, "0")}`;
}

const sums = (policies: readonly Policy[]): Row => ({
  active: {
    policies: policies.length,
    coverage: String(total(policies, "coverage")),
    payout: String(total(policies, "payout")),
  },
});

/** The ids of the products that the router has or had, by name. */
const productIds = ({ products, policies }: ChainState): string[] =>
  [...new Set([...products, ...policies].map((row) => String(row.product_id)))].sort((a, b) =>
    String(nameOf(a)) < String(nameOf(b)) ? -1 : 1,
  );

export function cover(chainState: ChainState): Row {
  const { policies, now } = chainState;
  const open = policies.filter((policy) => statusOf(policy, now) === "Active");
  const hours = [1n, 6n, 24n, 48n, 168n];
  const left = (policy: Policy) => big(policy.expires_at) - now;
  return {
    ...sums(open),
    by_product: productIds(chainState).map((id) => ({
      product_id: id,
      product_name: nameOf(id),
      ...sums(open.filter(({ product_id }) => product_id === id)),
    })),
    by_asset: [...new Set(open.map(({ asset }) => asset))].sort().map((asset) => ({
      asset,
      symbol: hexToString(`0x${asset.slice(2)}`, { size: 32 }),
      ...sums(open.filter((policy) => policy.asset === asset)),
    })),
    by_expiry: [...hours, undefined].map((end, place) => {
      const begin = (hours[place - 1] ?? 0n) * 3_600n;
      const within = (policy: Policy) =>
        (place === 0 || left(policy) > begin) && (end === undefined || left(policy) <= end * 3_600n);
      return {
        after_seconds: Number(begin),
        within_seconds: end === undefined ? null : Number(end) * 3_600,
        ...sums(open.filter(within)),
      };
    }),
  };
}

function figures({ events, now }: ChainState, policies: readonly Policy[]): Row {
  const count = (status: string) => policies.filter((policy) => statusOf(policy, now) === status).length;
  const [triggered, expired] = [count("Triggered"), count("Expired")];
  const premium = total(policies, "premium");
  const payout = total(policies, "payout");
  const keyOf = (productId: unknown, policyId: unknown) => `${productId}/${policyId}`;
  const keys = new Set(policies.map(({ product_id, policy_id }) => keyOf(product_id, policy_id)));
  const paid = named(events, "PolicyTriggered")
    .filter(({ args }) => keys.has(keyOf(args.productId, args.policyId)))
    .reduce((sum, { args }) => sum + big(args.bondAmount), 0n);
  return {
    policies: policies.length,
    ...{ active: count("Active"), triggered, expired },
    coverage: String(total(policies, "coverage")),
    ...{ premium: String(premium), payout: String(payout), paid: String(paid) },
    loss_ratio: quotient(paid * 1_000_000n, premium),
    realised_trigger_rate: quotient(BigInt(triggered), BigInt(triggered + expired)),
    break_even_trigger_rate: quotient(premium, payout),
    modelled_trigger_rate: quotient(premium, 2n * payout),
  };
}

/** `from` included, `to` excluded: the times at which the policies were bought. */
export function productStats(chainState: ChainState, { from = 0n, to = chainState.now + 1n } = {}): Row {
  const ids = productIds(chainState);
  const policies = chainState.policies.filter(
    ({ created_at }) => big(created_at) >= from && big(created_at) < to,
  );
  return {
    products: ids.map((id) => ({
      product_id: id,
      product_name: nameOf(id),
      asset: catalogueTerms.find(({ productId }) => productId === id)?.asset ?? null,
      ...figures(
        chainState,
        policies.filter(({ product_id }) => product_id === id),
      ),
    })),
    total: figures(chainState, policies),
  };
}
