import { createRoute } from "@hono/zod-openapi";
import { failures } from "../http/error-envelope.ts";
import { FaucetClaim, FaucetClaimRequest, FaucetStatus } from "./schemas.ts";

export const faucetClaimRoute = createRoute({
  method: "post",
  path: "/api/v1/faucet/claim",
  operationId: "claimFaucet",
  tags: ["faucet"],
  summary: "Get ether and mock USDC on the testnet",
  description:
    "Once in 24 hours for each wallet, once for each client address, and 50 times in a UTC day for all. It answers when both transfers are mined. After a 503 `claim_pending` it is not settled yet: the same claim from the same client address, sent again, tells its outcome and pays nothing twice. A claim of which nothing was sent takes up nothing.",
  request: { body: { required: true, content: { "application/json": { schema: FaucetClaimRequest } } } },
  responses: {
    200: { description: "Both were paid.", content: { "application/json": { schema: FaucetClaim } } },
    ...failures(
      "invalid_request",
      "payload_too_large",
      "unsupported_media_type",
      "wallet_rate_limited",
      "ip_rate_limited",
      "daily_cap_reached",
      "internal_error",
      "onchain_revert",
      "chain_not_found",
      "claim_expired",
      "claim_pending",
      "database_unavailable",
      "faucet_disabled",
      "out_of_eth",
      "relayer_unavailable",
    ),
  },
});

export const faucetStatusRoute = createRoute({
  method: "get",
  path: "/api/v1/faucet/status",
  operationId: "getFaucetStatus",
  tags: ["faucet"],
  summary: "What the faucet gives, and whether it can",
  responses: {
    200: { description: "As it stands.", content: { "application/json": { schema: FaucetStatus } } },
    ...failures("internal_error", "chain_not_found", "database_unavailable"),
  },
});
