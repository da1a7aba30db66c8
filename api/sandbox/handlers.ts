import { randomUUID } from "node:crypto";
import type { Context } from "hono";
import { ApiError } from "../../lib/errors.ts";
import { failureError } from "../buying/refusals.ts";
import { readTransaction } from "../chain/contracts/transaction.ts";
import type { Dependencies, Testnet } from "../dependencies.ts";
import { fromChain } from "../http/dependency-timeout.ts";
import { emptyBodyIsNone } from "../http/empty-body.ts";
import type { Api } from "../http/env.ts";
import { refuseRepeatedKey } from "../http/idempotency-key.ts";
import { clientName, countSandboxCall, tellStanding } from "../http/limits/middleware.ts";
import { boughtBody, infoBody, transactionBody } from "./body.ts";
import { createSandbox } from "./buy.ts";
import { sandboxInfoRoute, sandboxTransactionRoute, sandboxTryRoute } from "./routes.ts";
import { noSandbox } from "./wallet.ts";

/** Seconds after which a purchase that is still on its way may be asked for again: a block or two later. */
const PENDING_RETRY_SECONDS = 5;

const pending = (key: string) =>
  new ApiError(
    "purchase_pending",
    `The purchase is still on its way: send the same request again, with the header "Idempotency-Key: ${key}".`,
    { retryAfter: PENDING_RETRY_SECONDS },
  );

/** Trying the service on the testnet, without key and wallet. */
export function addSandboxRoutes(app: Api, deps: Dependencies): void {
  const { clientOf, limits, publicUrl, testnet } = deps;
  const limiter = limits.sandbox;
  const sandbox = createSandbox(deps);
  const originOf = (c: Context) => publicUrl ?? new URL(c.req.url).origin;
  const requireTestnet = (): Testnet => {
    if (!testnet) throw new ApiError(noSandbox.code, noSandbox.reason);
    return testnet;
  };

  app.openapi(sandboxInfoRoute, async (c) => {
    c.header("Cache-Control", "no-store");
    const chainId = testnet?.deployment.chainId;
    return c.json(infoBody(await sandbox.state(), { chainId, limiter, origin: originOf(c) }), 200);
  });

  const standing = tellStanding(limiter, clientOf);
  app.openapi({ ...sandboxTryRoute, middleware: [standing, emptyBodyIsNone] as const }, async (c) => {
    refuseRepeatedKey(c);
    const { "Idempotency-Key": key = randomUUID() } = c.req.valid("header");
    const client = clientName(c, clientOf);
    c.header("Cache-Control", "no-store");
    // Also of a call that ends badly: it may have been accepted.
    c.header("Idempotency-Key", key);
    const purchase = await sandbox.buy({
      request: c.req.valid("json"),
      client,
      key,
      count: () => countSandboxCall(c, limiter, client),
      gone: c.req.raw.signal,
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
    const { chain, deployment } = requireTestnet();
    const found = await fromChain(() => readTransaction(chain, deployment.contracts, txHash));
    if (!found) throw new ApiError("not_found", `The testnet has no transaction ${txHash} in a block.`);
    c.header("Cache-Control", "no-store");
    return c.json(transactionBody(deployment.chainId, found), 200);
  });
}
