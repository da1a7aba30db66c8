import { isAddressEqual } from "viem";
import { ApiError } from "../../lib/errors.ts";
import { contractsOf, type Dependencies } from "../dependencies.ts";
import { requireApiKey } from "../http/credentials.ts";
import { fromDatabase } from "../http/dependency-timeout.ts";
import type { Api } from "../http/env.ts";
import { delegateRoute, listDelegationsRoute, revokeDelegationRoute } from "./routes.ts";
import { delegationBody } from "./schemas.ts";
import { delegationDigest, listDelegations, recordDelegation, revokeDelegation } from "./store.ts";

function refusePast(expiry: bigint): void {
  if (expiry > BigInt(Math.floor(Date.now() / 1000))) return;
  throw new ApiError("validation_error", "The request is not valid: expiry", {
    details: [{ path: "expiry", message: "must lie in the future" }],
  });
}

/** Leaves of buyers to other wallets' keys to spend premiums of theirs. */
export function addDelegationRoutes(app: Api, deps: Dependencies): void {
  const { connection, deployment, signatures } = deps;
  const { db } = connection;
  const { chainId: chain } = deployment;
  const domainOf = () => ({ chainId: chain, verifyingContract: contractsOf(deployment).coverRouter });
  const apiKey = requireApiKey(deps);

  app.openapi({ ...delegateRoute, middleware: [apiKey] as const }, async (c) => {
    const { wallet } = c.get("agent");
    const { signature, ...terms } = c.req.valid("json");
    refusePast(terms.expiry);
    if (![terms.buyer, terms.agent].some((party) => isAddressEqual(party, wallet))) {
      throw new ApiError("forbidden", `The key belongs to ${wallet}, which is neither buyer nor agent.`);
    }
    const domain = domainOf();
    if (!(await signatures.hasSigned(terms.buyer, [delegationDigest(domain, terms)], signature))) {
      throw new ApiError("invalid_signature", `The signature is not ${terms.buyer}'s for this delegation.`);
    }
    const delegation = await fromDatabase(() => recordDelegation(db, domain, terms));
    if (!delegation) {
      throw new ApiError(
        "signature_used",
        "This delegation was given before: sign anew, with another nonce.",
      );
    }
    return c.json({ ok: true, ...delegationBody(delegation) }, 201);
  });

  app.openapi({ ...listDelegationsRoute, middleware: [apiKey] as const }, async (c) => {
    const { wallet } = c.get("agent");
    const page = c.req.valid("query");
    const found = await fromDatabase(() => listDelegations(db, { wallet, domain: domainOf() }, page));
    const delegations = found.delegations.map(delegationBody);
    const { total } = found;
    return c.json({ wallet, count: delegations.length, total, ...page, delegations }, 200);
  });

  app.openapi({ ...revokeDelegationRoute, middleware: [apiKey] as const }, async (c) => {
    const { id: delegationId } = c.req.valid("param");
    const { wallet: buyer } = c.get("agent");
    const revokedAt = await fromDatabase(() => revokeDelegation(db, delegationId, { buyer, chain }));
    if (!revokedAt) {
      throw new ApiError("delegation_not_found", `${buyer} has given no delegation ${delegationId}.`);
    }
    return c.json({ ok: true, delegationId, revokedAt: revokedAt.toISOString() }, 200);
  });
}
