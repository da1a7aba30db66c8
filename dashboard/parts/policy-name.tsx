import { place, viewHref } from "../data/place.ts";
import { policyKey } from "../data/policy-in-view.ts";
import { policyLabel } from "../format/names.ts";
import { Link } from "./link.tsx";

/** A policy by its product's name and its number. It leads to the policy's evaluation: why it was paid, or was not. */
export function PolicyName({
  productId,
  productName,
  policyId,
}: {
  productId: string;
  productName: string | null;
  policyId: string;
}) {
  const policy = policyKey({ productId, policyId });
  // On the page of evaluations the rest of the view stays.
  const href = place.value.page === "claims" ? viewHref({ policy }) : `/claims?policy=${policy}`;
  return <Link to={href}>{policyLabel(productName, policyId)}</Link>;
}
