import { randomUUID } from "node:crypto";
import type { Context } from "hono";
import type { ReadClient } from "../../lib/chain/client.ts";
import type { Deployment } from "../../lib/deployments.ts";
import { ApiError } from "../../lib/errors.ts";
import { traceparentOf } from "../../lib/trace-context.ts";
import { failureError } from "../buying/refusal-errors.ts";
import { readTransaction } from "../chain/contracts/transaction.ts";
import { policyBody } from "../chain/policy-body.ts";
import { fromChain } from "../http/dependency-timeout.ts";
import type { Api } from "../http/env.ts";
import { refuseRepeatedKey } from "../http/idempotency-key.ts";
import type { Limiter } from "../http/limits/limiter.ts";
import { type ClientOf, clientName, setRateLimitHeaders, showLimit } from "../http/limits/middleware.ts";
import { optionalBody } from "../http/optional-body.ts";
import { boughtBody, infoBody, transactionBody } from "./body.ts";
import { sandboxInfoRoute, sandboxPolicyRoute, sandboxTransactionRoute, sandboxTryRoute } from "./routes.ts";
import type { Sandbox } from "./sandbox.ts";
import { noSandbox } from "./wallet.ts";

/** `Retry-After` of a pending purchase, in seconds: one or two blocks. */
const PENDING_RETRY_SECONDS = 5;

const pending = (key: string) =>
  new ApiError(
    "purchase_pending",
    `The purchase is still in progress: send the same request again, with the header "Idempotency-Key: ${key}".`,
    { retryAfter: PENDING_RETRY_SECONDS },
  );

/** Counts a sandbox purchase; above the limit it is 403, as the API specification says. */
async function countSandboxCall(c: Context, limiter: Limiter, client: string): Promise<void> {
  const status = await limiter.consume(client);
  setRateLimitHeaders(c, status);
  if (!status.exceeded) return;
  throw new ApiError(
    "sandbox_cap_exceeded",
    `More than ${status.limit} sandbox calls in an hour; try again later.`,
    { retryAfter: status.resetSeconds },
  );
}

export type SandboxRouteParts = {
  readonly sandbox: Sandbox;
  /** Undefined without a testnet. */
  readonly testnet: { readonly deployment: Deployment; readonly client: ReadClient } | undefined;
  readonly limits: { readonly sandbox: Limiter };
  readonly clientOf: ClientOf;
  /** Public URL of the API without a trailing slash; undefined takes the request's origin. */
  readonly publicUrl: string | undefined;
};

export function addSandboxRoutes(app: Api, parts: SandboxRouteParts): void {
  const { sandbox, testnet, limits, clientOf, publicUrl } = parts;
  const limiter = limits.sandbox;
  const originOf = (c: Context) => publicUrl ?? new URL(c.req.url).origin;
  const requireTestnet = () => {
    if (!testnet) throw new ApiError(noSandbox.code, noSandbox.reason);
    return testnet;
  };

  app.openapi(sandboxInfoRoute, async (c) => {
    c.header("Cache-Control", "no-store");
    const chainId = testnet?.deployment.chainId;
    return c.json(infoBody(await sandbox.state(), { chainId, limiter, origin: originOf(c) }), 200);
  });

  const limit = showLimit(limiter, clientOf);
  app.openapi({ ...sandboxTryRoute, middleware: [limit, optionalBody] as const }, async (c) => {
    refuseRepeatedKey(c);
    const { "Idempotency-Key": key = randomUUID() } = c.req.valid("header");
    const client = clientName(c, clientOf);
    c.header("Cache-Control", "no-store");
    // Also on errors: the call may have been accepted.
    c.header("Idempotency-Key", key);
    const purchase = await sandbox.buy({
      request: c.req.valid("json"),
      client,
      key,
      count: () => countSandboxCall(c, limiter, client),
      gone: c.req.raw.signal,
      traceparent: traceparentOf(c.req.header("traceparent")),
    });
    switch (purchase.state) {
      case "mined":
      case "confirmed": {
        const { deployment } = requireTestnet();
        return c.json(boughtBody(purchase, purchase.receipt, { deployment, origin: originOf(c) }), 200);
      }
      case "failed":
      case "replaced":
        throw failureError(purchase);
      default:
        throw pending(key);
    }
  });

  app.openapi(sandboxTransactionRoute, async (c) => {
    const { txHash } = c.req.valid("param");
    const { client, deployment } = requireTestnet();
    const found = await fromChain(() => readTransaction(client, deployment.contracts, txHash));
    if (!found) throw new ApiError("not_found", `The testnet has no mined transaction ${txHash}.`);
    c.header("Cache-Control", "no-store");
    return c.json(transactionBody(deployment.chainId, found), 200);
  });

  app.openapi(sandboxPolicyRoute, async (c) => {
    const key = c.req.valid("param");
    const found = await sandbox.policy(key);
    if (!found) {
      const message = `The testnet's product ${key.productId} has no policy ${key.policyId}.`;
      throw new ApiError("policy_not_found", message);
    }
    const { policy, asOf } = found;
    c.header("Cache-Control", "no-store");
    c.header("x-chain-block", String(asOf.number));
    return c.json(policyBody(policy, asOf), 200);
  });
}
