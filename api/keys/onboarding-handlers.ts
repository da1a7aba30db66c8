import { hashMessage } from "viem";
import type { Connection } from "../../lib/db/connect.ts";
import { ApiError } from "../../lib/errors.ts";
import { errorText, type Logger } from "../../lib/log.ts";
import type { Signatures } from "../chain/signatures.ts";
import { fromDatabase } from "../http/dependency-timeout.ts";
import type { Api } from "../http/env.ts";
import { onInvalidBody, refuseBrokenJson } from "../http/invalid-body.ts";
import type { Limiter } from "../http/limits/limiter.ts";
import { type ClientOf, limitClients } from "../http/limits/middleware.ts";
import { forgetOldSignatures, isFresh, onboard, onboardingMessage, TIMESTAMP_WINDOW_SECONDS } from "./onboarding.ts";
import { onboardRoute } from "./onboarding-routes.ts";
import { issuedKeyBody } from "./schemas.ts";

export type OnboardingParts = {
  readonly connection: Connection;
  readonly limits: { readonly onboardings: Limiter };
  readonly clientOf: ClientOf;
  readonly signatures: Signatures;
  readonly log: Logger;
};

/** A wallet issues itself a key with its signature. */
export function addOnboardingRoute(app: Api, parts: OnboardingParts): void {
  const { connection, limits, clientOf, log, signatures } = parts;
  const { sql } = connection;
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
        const message = `The signature is not by ${wallet} for: ${onboardingMessage(wallet, timestamp)}`;
        throw new ApiError("invalid_signature", message);
      }
      const key = await fromDatabase(() => onboard(sql, { wallet, signedAt: timestamp, label }));
      forgetOldSignatures(sql, now).catch((error) =>
        log.warn({ err: errorText(error) }, "could not delete old signatures"),
      );
      c.header("Cache-Control", "no-store");
      return c.json(issuedKeyBody(key), 201);
    },
    onInvalidBody("invalid_body"),
  );
}
