import type { Context } from "hono";
import { formatEther, formatUnits } from "viem";
import { ApiError } from "../../lib/errors.ts";
import type { Dependencies } from "../dependencies.ts";
import type { Api } from "../http/env.ts";
import { onInvalidBody, refuseBrokenJson } from "../http/invalid-body.ts";
import { clientName, tell } from "../http/limits/middleware.ts";
import { createFaucet } from "./claim.ts";
import type { Claim } from "./claims.ts";
import { createForgetting } from "./forget-clients.ts";
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

/** Where a client stands that has been granted a claim, or refused one by the faucet's own limits. */
const spent = (limit: number, resetSeconds: number) => ({
  limit,
  remaining: 0,
  resetSeconds: Math.max(1, resetSeconds),
  exceeded: true,
});

/** Tells which of the faucet's limits refused the claim, in place of the one of public reads. */
function tellLimit(c: Context, error: unknown): void {
  if (!(error instanceof ApiError) || error.status !== 429 || error.retryAfter === null) return;
  tell(c, spent(error.code === "daily_cap_reached" ? faucetTerms.dailyCap : 1, error.retryAfter));
}

/** Grants on the testnet, for anybody. */
export function addFaucetRoutes(app: Api, deps: Dependencies): void {
  const { clientOf } = deps;
  const faucet = createFaucet(deps);
  const status = createFaucetStatus(deps);
  const forgetNowAndThen = createForgetting(deps);

  app.openapi(
    { ...faucetClaimRoute, middleware: [refuseBrokenJson("invalid_request")] as const },
    async (c) => {
      forgetNowAndThen();
      c.header("Cache-Control", "no-store");
      const call = {
        wallet: c.req.valid("json").wallet,
        client: clientName(c, clientOf),
        gone: c.req.raw.signal,
      };
      const { claim, token } = await faucet.claim(call).catch((error: unknown) => {
        tellLimit(c, error);
        throw error;
      });
      tell(c, spent(1, Math.ceil((nextEligibleAt(claim.claimedAt).getTime() - Date.now()) / 1000)));
      return c.json(claimBody(claim, token), 200);
    },
    onInvalidBody("invalid_request"),
  );

  app.openapi(faucetStatusRoute, async (c) => {
    forgetNowAndThen();
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
