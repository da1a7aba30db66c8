import { failures } from "../http/error-envelope.ts";
import { createRoute } from "../http/route.ts";
import { FaucetClaim, FaucetClaimRequest, FaucetStatus } from "./schemas.ts";

export const faucetClaimRoute = createRoute({
  method: "post",
  path: "/api/v1/faucet/claim",
  operationId: "claimFaucet",
  tags: ["faucet"],
  summary: "Claim ether and mock USDC on the testnet",
  description:
    "Once in 24 hours per wallet and per client address, and 50 times per UTC day in total. Responds once both transfers are mined. After a 503 `claim_pending`, repeat the claim from the same client address to get its outcome; nothing is paid twice. A claim that sent nothing does not count towards the limits.",
  request: { body: { required: true, content: { "application/json": { schema: FaucetClaimRequest } } } },
  responses: {
    200: {
      description: "Both transfers are mined.",
      content: { "application/json": { schema: FaucetClaim } },
    },
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
  summary: "Get the faucet's status",
  responses: {
    200: { description: "The status.", content: { "application/json": { schema: FaucetStatus } } },
    ...failures("internal_error", "chain_not_found", "database_unavailable"),
  },
});
