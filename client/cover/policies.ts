/** Policies: from the contracts by their ids, and as lists from the index. */
import type { Operation, RequestOf } from "../operations.ts";
import { type Context, given, type Options, type Read, read } from "./context.ts";
import { entries } from "./entries.ts";

export type Policy = Read<"/policies/{productId}/{policyId}">;
/** Both ids together name a policy: `policyId` counts per product. */
export type PolicyKey = { readonly productId: string; readonly policyId: bigint };

/** What to search for; times in Unix seconds. */
export type PolicyFilter = NonNullable<RequestOf<Operation<"get", "/api/v1/policies/all">>["query"]>;

const pathOf = ({ productId, policyId }: PolicyKey) => ({ productId, policyId: String(policyId) });

/** The policy in the newest block, at once after its purchase. @throws ApiError `policy_not_found` */
export const getPolicy = (context: Context, key: PolicyKey, options: Options = {}): Promise<Policy> =>
  read(context, "/policies/{productId}/{policyId}", { path: pathOf(key), ...given(options) });

/** The policies of a wallet, newest first. */
export const policiesOf = (context: Context, address: string, options: Options = {}) =>
  entries(context, "/api/v1/policies/by-buyer/{address}", "policies", {
    path: { address },
    ...given(options),
  });

/** The policies of all wallets. */
export const searchPolicies = (context: Context, query: PolicyFilter = {}, options: Options = {}) =>
  entries(context, "/api/v1/policies/all", "policies", { query, ...given(options) });

/** Whether a policy can be triggered now, and why not: its window, trigger price and the feed's rounds. */
export const getTrigger = (context: Context, key: PolicyKey, options: Options = {}) =>
  read(context, "/api/v1/triggers/{productId}/{policyId}", { path: pathOf(key), ...given(options) });
