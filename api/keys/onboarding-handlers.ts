import type { Context } from "hono";
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
import { forgetOldSignatures, onboard, serviceMessages } from "./onboarding.ts";
import { onboardRoute } from "./onboarding-routes.ts";
import { issuedKeyBody, requestedLimits } from "./schemas.ts";
import { signInMessage } from "./sign-in-message.ts";
import { requireSignedTerms } from "./signed-terms.ts";

export type OnboardingParts = {
  readonly connection: Connection;
  readonly limits: { readonly onboardings: Limiter };
  readonly clientOf: ClientOf;
  readonly signatures: Signatures;
  /** The main chain, which EIP-4361 messages must name. */
  readonly deployment: { readonly chainId: number };
  readonly isLocalChain: () => Promise<boolean>;
  /** Public URL of the API; undefined takes the request's host. */
  readonly publicUrl: string | undefined;
  readonly log: Logger;
};

/** A wallet issues itself a key with its signature. */
export function addOnboardingRoute(app: Api, parts: OnboardingParts): void {
  const { connection, limits, clientOf, log, signatures, deployment, publicUrl, isLocalChain } = parts;
  const { chainId } = deployment;
  const { sql } = connection;
  const limit = limitClients(limits.onboardings, clientOf, "onboardings");

  /** The host that an EIP-4361 message must name. A request may name any host, so only a local chain takes its word. */
  async function ownHost(c: Context): Promise<string> {
    if (publicUrl !== undefined) return new URL(publicUrl).host;
    if (await isLocalChain()) return new URL(c.req.url).host;
    throw new ApiError("invalid_body", "The body is not valid. message: needs PUBLIC_URL, which is not set.");
  }

  app.openapi(
    { ...onboardRoute, middleware: [limit, refuseBrokenJson("invalid_body")] as const },
    async (c) => {
      // The schema requires a timestamp where there is no message.
      const {
        walletAddress,
        signature,
        timestamp = 0,
        message,
        label = null,
        ...terms
      } = c.req.valid("json");
      const { address: wallet } = walletAddress;
      const now = Math.floor(Date.now() / 1000);
      const signed =
        message === undefined
          ? serviceMessages(walletAddress, timestamp, now)
          : signInMessage(message, { wallet, chainId, domain: await ownHost(c) }, now);
      requireSignedTerms(signed.resources, terms);
      const digests = signed.texts.map((text) => hashMessage(text));
      if (!(await signatures.hasSigned(wallet, digests, signature))) {
        throw new ApiError("invalid_signature", `The signature is not by ${wallet} for: ${signed.texts[0]}`);
      }
      const { replaces, ...limited } = terms;
      const key = await fromDatabase(() =>
        onboard(sql, { wallet, signedAt: signed.at, label, replaces, limits: requestedLimits(limited) }),
      );
      forgetOldSignatures(sql, now).catch((error) =>
        log.warn({ err: errorText(error) }, "could not delete old signatures"),
      );
      c.header("Cache-Control", "no-store");
      return c.json(issuedKeyBody(key), 201);
    },
    onInvalidBody("invalid_body"),
  );
}
