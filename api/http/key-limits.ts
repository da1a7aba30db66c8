/** What a key may do: its limits, which are set when it is issued and never changed. */
import type { ISql } from "postgres";
import type { Hex } from "viem";
import { ApiError } from "../../lib/errors.ts";

export const keyScopes = ["read", "buy", "webhooks"] as const;
/** `read`: the wallet's own data and reports; `buy`: purchases and delegations; `webhooks`: everything about webhooks. */
export type KeyScope = (typeof keyScopes)[number];

/** Null in each place means no limit. Premiums are USDC base units (6 decimals); a day is a UTC day. */
export type KeyLimits = {
  readonly scopes: readonly KeyScope[] | null;
  /** Ids of the products that the key may buy. */
  readonly products: readonly Hex[] | null;
  readonly maxPremiumPerPurchase: bigint | null;
  readonly maxPremiumPerDay: bigint | null;
};

/** The limits as a row of `service.api_key` has them: premiums are decimals. */
export type KeyLimitRow = Pick<KeyLimits, "scopes" | "products"> & {
  readonly maxPremiumPerPurchase: string | null;
  readonly maxPremiumPerDay: string | null;
};

export const keyLimitColumns = (sql: ISql) => sql`
  to_json(scopes) as scopes, to_json(products) as products, max_premium_per_purchase as "maxPremiumPerPurchase", max_premium_per_day as "maxPremiumPerDay"`;

const bigintOrNull = (decimal: string | null): bigint | null => (decimal === null ? null : BigInt(decimal));

export const keyLimitsOf = (row: KeyLimitRow): KeyLimits => ({
  scopes: row.scopes,
  products: row.products,
  maxPremiumPerPurchase: bigintOrNull(row.maxPremiumPerPurchase),
  maxPremiumPerDay: bigintOrNull(row.maxPremiumPerDay),
});

/** Whether a key has any limit of its own. */
export const isLimited = (limits: KeyLimits): boolean =>
  Object.values(limits).some((limit) => limit !== null);

/** @throws ApiError `insufficient_scope` unless the key has one of the scopes */
export function requireScope({ scopes }: KeyLimits, anyOf: readonly KeyScope[]): void {
  if (scopes === null || anyOf.some((scope) => scopes.includes(scope))) return;
  const needed = anyOf.map((scope) => `\`${scope}\``).join(" or ");
  const given = scopes.map((scope) => `\`${scope}\``).join(", ");
  throw new ApiError(
    "insufficient_scope",
    `This needs a key with the scope ${needed}; this key has ${given}.`,
  );
}

/** The premiums that count against a key's limit of this UTC day, 6 decimals. */
export async function readPremiumOfDay(sql: ISql, keyId: number): Promise<bigint> {
  const [row] = await sql<{ premium: string }[]>`select service.premium_of_day(${keyId}) as premium`;
  return BigInt(row?.premium ?? 0);
}
