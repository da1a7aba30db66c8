import { type Address, isAddressEqual } from "viem";
import { ApiError } from "../../lib/errors.ts";
import type { Dependencies } from "../dependencies.ts";
import { requireApiKey } from "../http/credentials.ts";
import type { Api } from "../http/env.ts";
import { cursorOf, cutPage, type FeedPage, pagesOf } from "../http/paging.ts";
import type { Readers } from "../readers.ts";
import { policyBody } from "./body.ts";
import { preparePoliciesOf, toIndexedPolicy } from "./queries.ts";
import { completePolicy, readPolicy } from "./reader.ts";
import { ownPoliciesRoute, policiesByBuyerRoute, policyRoute } from "./routes.ts";

/** Reads of policies: one by its key, the list of a buyer, and a key's own. */
export function addPolicyRoutes(app: Api, deps: Dependencies, readers: Readers): void {
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

  app.openapi({ ...ownPoliciesRoute, middleware: [requireApiKey(deps)] as const }, async (c) => {
    const { wallet } = c.get("agent");
    const { owner = wallet, ...page } = c.req.valid("query");
    if (!isAddressEqual(owner, wallet)) {
      throw new ApiError("forbidden", `The key belongs to ${wallet}; ${owner}'s policies are not its own.`);
    }
    return answers.sendPrivately(c, await byBuyer({ address: wallet, ...page }));
  });
}
