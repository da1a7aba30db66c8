import { isAddressEqual } from "viem";
import type { Connection } from "../../lib/db/connect.ts";
import type { Deployment, IncompleteDeployment } from "../../lib/deployments.ts";
import { ApiError } from "../../lib/errors.ts";
import { contractsOf } from "../chain/contract-addresses.ts";
import type { Signatures } from "../chain/signatures.ts";
import type { RequireApiKey } from "../http/credentials.ts";
import { fromDatabase } from "../http/dependency-timeout.ts";
import type { Api } from "../http/env.ts";
import { delegateRoute, listDelegationsRoute, revokeDelegationRoute } from "./routes.ts";
import { delegationBody } from "./schemas.ts";
import { delegationDigest, listDelegations, recordDelegation, revokeDelegation } from "./store.ts";

function refusePast(expiry: bigint): void {
  if (expiry > BigInt(Math.floor(Date.now() / 1000))) return;
  throw new ApiError("validation_error", "The request is not valid: expiry", {
    details: [{ path: "expiry", message: "must be in the future" }],
  });
}

export type DelegationParts = {
  readonly connection: Connection;
  readonly deployment: Deployment | IncompleteDeployment;
  readonly signatures: Signatures;
  readonly apiKey: RequireApiKey;
};

/** A buyer delegates: another wallet's keys may spend its premiums up to a cap. */
export function addDelegationRoutes(app: Api, parts: DelegationParts): void {
  const { connection, deployment, signatures, apiKey } = parts;
  const { sql } = connection;
  const { chainId: chain } = deployment;
  const domainOf = () => ({ chainId: chain, verifyingContract: contractsOf(deployment).coverRouter });

  app.openapi({ ...delegateRoute, middleware: [apiKey("buy")] as const }, async (c) => {
    const { wallet } = c.get("holder");
    const { signature, ...terms } = c.req.valid("json");
    refusePast(terms.expiry);
    if (![terms.buyer, terms.agent].some((party) => isAddressEqual(party, wallet))) {
      throw new ApiError("forbidden", `The key belongs to ${wallet}, which is neither buyer nor agent.`);
    }
    const domain = domainOf();
    if (!(await signatures.hasSigned(terms.buyer, [delegationDigest(domain, terms)], signature))) {
      throw new ApiError("invalid_signature", `The signature is not by ${terms.buyer} for this delegation.`);
    }
    const { delegation, isNew } = await fromDatabase(() => recordDelegation(sql, domain, terms));
    if (!isNew) {
      const { id, status } = delegation;
      // A caller that lost the first answer must not sign a second delegation: the agent could spend both caps.
      throw new ApiError(
        "signature_used",
        `This delegation was recorded before, as number ${id}, and is ${status}.`,
      );
    }
    return c.json({ ok: true, ...delegationBody(delegation) }, 201);
  });

  app.openapi({ ...listDelegationsRoute, middleware: [apiKey("read", "buy")] as const }, async (c) => {
    const { wallet } = c.get("holder");
    const page = c.req.valid("query");
    const found = await fromDatabase(() => listDelegations(sql, { wallet, domain: domainOf() }, page));
    const delegations = found.delegations.map(delegationBody);
    const { total } = found;
    return c.json({ wallet, count: delegations.length, total, ...page, delegations }, 200);
  });

  app.openapi({ ...revokeDelegationRoute, middleware: [apiKey("buy")] as const }, async (c) => {
    const { id: delegationId } = c.req.valid("param");
    const { wallet: buyer } = c.get("holder");
    const revokedAt = await fromDatabase(() => revokeDelegation(sql, delegationId, { buyer, chain }));
    if (!revokedAt) {
      throw new ApiError("delegation_not_found", `${buyer} has given no delegation ${delegationId}.`);
    }
    return c.json({ ok: true, delegationId, revokedAt: revokedAt.toISOString() }, 200);
  });
}
