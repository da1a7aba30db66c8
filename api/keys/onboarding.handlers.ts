import { hashMessage } from "viem";
import { ApiError, type ErrorCode } from "../../lib/errors.ts";
import { errorText } from "../../lib/log.ts";
import type { Dependencies } from "../dependencies.ts";
import { fromDatabase } from "../http/dependency-timeout.ts";
import type { Api } from "../http/env.ts";
import { onInvalidBody, refuseBrokenJson } from "../http/invalid-body.ts";
import { limitClients } from "../http/limits/middleware.ts";
import { onboardRoute } from "./onboarding.routes.ts";
import {
  forgetOldSignatures,
  isFresh,
  MAX_ACTIVE_KEYS,
  onboard,
  onboardingMessage,
  TIMESTAMP_WINDOW_SECONDS,
} from "./onboarding.ts";
import { issuedKeyBody } from "./schemas.ts";

const refusals = {
  cap_reached: `The wallet has ${MAX_ACTIVE_KEYS} active keys already: revoke one first.`,
  signature_used: "This signature has made a key before: sign anew, with another timestamp.",
} as const satisfies Partial<Record<ErrorCode, string>>;

/** Keys that a wallet issues to itself. */
export function addOnboardingRoute(app: Api, deps: Dependencies): void {
  const { connection, limits, clientOf, log, signatures } = deps;
  const { db } = connection;
  const limit = limitClients(limits.onboardings, clientOf, "onboardings");

  app.openapi(
    { ...onboardRoute, middleware: [limit, refuseBrokenJson("invalid_body")] as const },
    async (c) => {
      const { walletAddress, signature, timestamp, label = null } = c.req.valid("json");
      const now = Math.floor(Date.now() / 1000);
      if (!isFresh(timestamp, now)) {
        const message = `The timestamp is more than ${TIMESTAMP_WINDOW_SECONDS} seconds from the server's time, ${now}.`;
        throw new ApiError("stale_timestamp", message);
      }
      const { address: wallet, sent } = walletAddress;
      const spellings = new Set([wallet, sent, wallet.toLowerCase()]);
      const digests = [...spellings].map((address) => hashMessage(onboardingMessage(address, timestamp)));
      if (!(await signatures.hasSigned(wallet, digests, signature))) {
        const message = `The signature is not ${wallet}'s for: ${onboardingMessage(wallet, timestamp)}`;
        throw new ApiError("invalid_signature", message);
      }
      const onboarding = await fromDatabase(() => onboard(db, { wallet, signedAt: timestamp, label }));
      if (onboarding.outcome !== "issued") {
        throw new ApiError(onboarding.outcome, refusals[onboarding.outcome]);
      }
      forgetOldSignatures(db, now).catch((error) =>
        log.warn({ err: errorText(error) }, "old signatures not forgotten"),
      );
      c.header("Cache-Control", "no-store");
      return c.json(issuedKeyBody(onboarding.key), 201);
    },
    onInvalidBody("invalid_body"),
  );
}
