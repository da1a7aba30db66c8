import { ApiError } from "../../lib/errors.ts";
import type { Api } from "../env.ts";
import { policyBody } from "../policy.ts";
import { isComplete, readFromChain, readPolicy } from "../policy-reader.ts";
import { findPoliciesOf } from "../queries/policies.ts";
import type { Readers } from "../readers.ts";
import { policiesByBuyerRoute, policyRoute } from "./policies.routes.ts";

/** Reads of policies: one by its key, and the list of a buyer. */
export function addPolicyRoutes(app: Api, readers: Readers): void {
  app.openapi(policyRoute, async (c) => {
    const key = c.req.valid("param");
    const found = await readPolicy(readers, key);
    if (!found) {
      throw new ApiError("policy_not_found", `The product ${key.productId} has no policy ${key.policyId}.`);
    }
    const { policy, asOf } = found;
    c.header(asOf.source === "index" ? "x-indexed-block" : "x-chain-block", String(asOf.number));
    return c.json(policyBody(policy, asOf), 200);
  });

  app.openapi(policiesByBuyerRoute, async (c) => {
    const { address } = c.req.valid("param");
    const page = c.req.valid("query");
    const { asOf, value } = await readers.index.read((db) => findPoliciesOf(db, address, page));
    const policies = await Promise.all(
      value.policies.map(async (row) => {
        const { txHash, blockNumber } = row;
        // A product that was set up before the first indexed block is unknown to the index.
        const found = isComplete(row) ? { policy: row, asOf } : await readFromChain(readers, row);
        if (!found)
          throw new Error(`the index has a policy that the chain lacks: ${row.productId} ${row.policyId}`);
        return { ...policyBody(found.policy, found.asOf), txHash, blockNumber: String(blockNumber) };
      }),
    );
    c.header("x-indexed-block", String(asOf.number));
    return c.json({ buyer: address, count: policies.length, total: value.total, ...page, policies }, 200);
  });
}
