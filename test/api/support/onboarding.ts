import type { Address, Hex, LocalAccount } from "viem";
import { z } from "zod";
import { onboardingMessage } from "../../../api/keys/onboarding.ts";
import type { HttpAnswer } from "../../support/http.ts";
import type { CheckedRequest } from "../../support/openapi.ts";

export const PATH = "/api/v1/agent/onboard";

/** Unix seconds. */
export const now = (): number => Math.floor(Date.now() / 1000);

/** What an account signs and sends; a timestamp makes one key, so that each request has its own. */
export async function onboardingBody(
  signer: LocalAccount,
  { timestamp = now(), wallet = signer.address }: { timestamp?: number; wallet?: Address } = {},
): Promise<{ walletAddress: Address; signature: Hex; timestamp: number }> {
  const signature = await signer.signMessage({ message: onboardingMessage(wallet, timestamp) });
  return { walletAddress: wallet, signature, timestamp };
}

const issued = z.object({ keyId: z.number(), apiKey: z.string() });

/** The key in an answer. @throws when there is none */
export function keyOf(answer: HttpAnswer): { keyId: number; headers: { "x-api-key": string } } {
  const { keyId, apiKey } = issued.parse(answer.json);
  return { keyId, headers: { "x-api-key": apiKey } };
}

/** A key of one's own for the account. */
export async function onboardAccount(request: CheckedRequest, account: LocalAccount, timestamp = now()) {
  return keyOf(await request(PATH, { body: await onboardingBody(account, { timestamp }) }));
}
