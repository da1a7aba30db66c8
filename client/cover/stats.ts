/** Statistics and feeds from the index. Feeds come entry by entry: `for await (const event of cover.stats.activity())`. */
import type { Operation, PathWith, RequestOf } from "../operations.ts";
import { type Context, given, type Options, read } from "./context.ts";
import { entries } from "./entries.ts";

type Query<P extends PathWith<"get">> =
  RequestOf<Operation<"get", P>> extends { readonly query?: infer Query } ? NonNullable<Query> : never;

/** The sums of the protocol: policies, cover, premiums, bonds, burns. */
export const protocolStats = (context: Context, options: Options = {}) =>
  read(context, "/api/v1/stats/protocol", given(options));

/** Active cover, in total and by product, asset and expiry. */
export const coverStats = (context: Context, options: Options = {}) =>
  read(context, "/api/v1/stats/cover", given(options));

/** Policies, premiums, payouts and loss ratio by product, over all policies or those bought in a period. */
export const productStats = (
  context: Context,
  query: Query<"/api/v1/stats/products"> = {},
  options: Options = {},
) => read(context, "/api/v1/stats/products", { query, ...given(options) });

/** Reserve, obligations, capacity, utilisation and solvency of the vault. */
export const vaultStats = (context: Context, options: Options = {}) =>
  read(context, "/api/v1/stats/vault", given(options));

/** The prices that decide triggers. */
export const priceStats = (context: Context, options: Options = {}) =>
  read(context, "/api/v1/stats/prices", given(options));

/** A figure by day, week or month. */
export const series = (context: Context, query: Query<"/api/v1/stats/series">, options: Options = {}) =>
  read(context, "/api/v1/stats/series", { query, ...given(options) });

/** All that happens, newest first. */
export const activity = (
  context: Context,
  query: Query<"/api/v1/stats/activity"> = {},
  options: Options = {},
) => entries(context, "/api/v1/stats/activity", "events", { query, ...given(options) });

/** Paid policies, newest first. */
export const claims = (context: Context, query: Query<"/api/v1/stats/claims"> = {}, options: Options = {}) =>
  entries(context, "/api/v1/stats/claims", "claims", { query, ...given(options) });

/** Burns of the protocol token, newest first. */
export const burns = (context: Context, query: Query<"/api/v1/burns/recent"> = {}, options: Options = {}) =>
  entries(context, "/api/v1/burns/recent", "burns", { query, ...given(options) });
