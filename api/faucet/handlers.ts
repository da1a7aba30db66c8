import type { Context } from "hono";
import { formatEther, formatUnits } from "viem";
import type { Connection } from "../../lib/db/connect.ts";
import { ApiError } from "../../lib/errors.ts";
import type { Logger } from "../../lib/log.ts";
import { traceparentOf } from "../../lib/trace-context.ts";
import type { Api } from "../http/env.ts";
import { onInvalidBody, refuseBrokenJson } from "../http/invalid-body.ts";
import type { RateLimitStatus } from "../http/limits/limiter.ts";
import { type ClientOf, clientName, setRateLimitHeaders } from "../http/limits/middleware.ts";
import type { ClaimGrant, Testnet } from "./claim.ts";
import type { Claim } from "./claims.ts";
import { faucetClient } from "./client-name.ts";
import { createForgetClients } from "./forget-clients.ts";
import { faucetClaimRoute, faucetStatusRoute } from "./routes.ts";
import type { FaucetClaimBody, FaucetStatusBody } from "./schemas.ts";
import { createFaucetStatus } from "./status.ts";
import { faucetTerms, nextEligibleAt } from "./terms.ts";

const amounts = {
  eth: formatEther(faucetTerms.wei),
  usdc: formatUnits(faucetTerms.usdc, 6),
};

type Paid = Extract<Claim, { state: "paid" }>;

const claimBody = (claim: Paid, mockUsdcAddress: string): FaucetClaimBody => ({
  success: true,
  ethTxHash: claim.etherTx,
  usdcTxHash: claim.usdcTx,
  ethAmount: amounts.eth,
  usdcAmount: amounts.usdc,
  mockUsdcAddress,
  nextEligibleAt: nextEligibleAt(claim.claimedAt).toISOString(),
});

/** The rate-limit status after a grant, or after a refusal by the faucet's own limits. */
const usedUp = (limit: number, resetSeconds: number, exceeded: boolean): RateLimitStatus => ({
  name: "faucet",
  limit,
  remaining: 0,
  resetSeconds: Math.max(1, resetSeconds),
  exceeded,
});

/** Shows the faucet's limit that refused the claim, instead of the limit of public reads. */
function showRefusingLimit(c: Context, error: unknown): void {
  if (!(error instanceof ApiError) || error.status !== 429 || error.retryAfter === null) return;
  setRateLimitHeaders(
    c,
    usedUp(error.code === "daily_cap_reached" ? faucetTerms.dailyCap : 1, error.retryAfter, true),
  );
}

export type FaucetParts = {
  readonly connection: Connection;
  /** Undefined without a testnet; `faucetClientLimit` is the grants per client address in 24 hours. */
  readonly testnet: (Testnet & { readonly faucetClientLimit: number }) | undefined;
  readonly claimGrant: ClaimGrant;
  readonly clientOf: ClientOf;
  readonly log: Logger;
};

/** Grants of test money. */
export function addFaucetRoutes(app: Api, parts: FaucetParts): void {
  const { clientOf, claimGrant, testnet } = parts;
  const status = createFaucetStatus(parts);
  const forgetClients = createForgetClients(parts);

  app.openapi(
    { ...faucetClaimRoute, middleware: [refuseBrokenJson("invalid_request")] as const },
    async (c) => {
      forgetClients();
      c.header("Cache-Control", "no-store");
      const { wallet } = c.req.valid("json");
      const call = {
        wallet,
        client: faucetClient(clientName(c, clientOf), wallet, testnet?.faucetClientLimit),
        gone: c.req.raw.signal,
        traceparent: traceparentOf(c.req.header("traceparent")),
      };
      const { claim, token } = await claimGrant(call).catch((error: unknown) => {
        showRefusingLimit(c, error);
        throw error;
      });
      const secondsLeft = Math.ceil((nextEligibleAt(claim.claimedAt).getTime() - Date.now()) / 1000);
      setRateLimitHeaders(c, usedUp(1, secondsLeft, false));
      return c.json(claimBody(claim, token), 200);
    },
    onInvalidBody("invalid_request"),
  );

  app.openapi(faucetStatusRoute, async (c) => {
    forgetClients();
    c.header("Cache-Control", "no-store");
    const { state, counts, balance, token } = await status();
    const body: FaucetStatusBody = {
      enabled: state.status !== "disabled",
      status: state.status,
      reason: state.reason,
      relayerEthBalance: formatEther(balance),
      relayerUsdcBalance: null,
      mockUsdcAddress: token,
      usdcPerClaim: amounts.usdc,
      ethPerClaim: amounts.eth,
      cooldownHours: faucetTerms.cooldownHours,
      claimsLast24h: counts.last24h,
      claimsToday: counts.today,
      dailyCap: faucetTerms.dailyCap,
      capResetsAt: counts.dayEndsAt.toISOString(),
    };
    return c.json(body, 200);
  });
}
