import type { Address } from "viem";
import { ApiError } from "../../lib/errors.ts";
import type { Api } from "../env.ts";
import { policyBody } from "../policy.ts";
import { completePolicy, readPolicy } from "../policy-reader.ts";
import { preparePoliciesOf, toIndexedPolicy } from "../queries/policies.ts";
import type { Readers } from "../readers.ts";
import { cursorOf, cutPage, type FeedPage, pagesOf } from "../schemas/paging.ts";
import { policiesByBuyerRoute, policyRoute } from "./policies.routes.ts";

/** Reads of policies: one by its key, and the list of a buyer. */
export function addPolicyRoutes(app: Api, readers: Readers): void {
  const { answers, index } = readers;
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

  const policiesOf = index.prepare(preparePoliciesOf);
  const byBuyer = answers.of(
    ({ address, ...page }: FeedPage & { address: Address }) => policiesOf({ buyer: address, ...page }),
    async (found, { address, limit, offset }, asOf) => {
      const total = found[0]?.account?.policies ?? 0;
      const { rows, next } = cutPage(pagesOf(found).map(toIndexedPolicy), limit, cursorOf);
      const policies = await Promise.all(
        rows.map(async (row) => {
          const { txHash, blockNumber, logIndex } = row;
          const policy = await completePolicy(readers, row);
          return { ...policyBody(policy, asOf), txHash, blockNumber: String(blockNumber), logIndex };
        }),
      );
      return { buyer: address, count: policies.length, total, limit, offset, nextCursor: next, policies };
    },
  );
  app.openapi(policiesByBuyerRoute, async (c) =>
    answers.send(c, await byBuyer({ ...c.req.valid("param"), ...c.req.valid("query") })),
  );
}
