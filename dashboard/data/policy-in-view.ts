/** The policy that an address names: its product's id, a dash, and its number. */
import { place } from "./place.ts";

export type PolicyKey = { readonly productId: string; readonly policyId: string };

export const policyKey = ({ productId, policyId }: PolicyKey): string => `${productId}-${policyId}`;

/** The policy in this text; undefined if it names none. */
export function readPolicyKey(text: string): PolicyKey | undefined {
  const [, productId, policyId] = /^(0x[0-9a-fA-F]{64})-(\d{1,78})$/.exec(text) ?? [];
  return productId !== undefined && policyId !== undefined ? { productId, policyId } : undefined;
}

/** What the address says: `none`, `malformed`, or a policy. */
export function policyInView(): PolicyKey | "none" | "malformed" {
  const text = place.value.view.get("policy");
  return text === null ? "none" : (readPolicyKey(text) ?? "malformed");
}
