import type { Address, Hex, LocalAccount } from "viem";
import { z } from "zod";
import { onboardingMessage } from "../../../api/keys/onboarding.ts";
import type { HttpAnswer } from "../../support/http.ts";
import type { CheckedRequest } from "../../support/openapi.ts";

export const ONBOARD = "/api/v1/agent/onboard";

/** Unix seconds. */
export const now = (): number => Math.floor(Date.now() / 1000);

/** A signed onboarding body. One wallet and timestamp make only one key, so each request needs its own timestamp. */
export async function onboardingBody(
  signer: LocalAccount,
  { timestamp = now(), wallet = signer.address }: { timestamp?: number; wallet?: Address } = {},
): Promise<{ walletAddress: Address; signature: Hex; timestamp: number }> {
  const signature = await signer.signMessage({ message: onboardingMessage(wallet, timestamp) });
  return { walletAddress: wallet, signature, timestamp };
}

const issued = z.object({ keyId: z.number(), apiKey: z.string() });

/** The key in a response. @throws when there is none */
export function keyOf(answer: HttpAnswer): { keyId: number; headers: { "x-api-key": string } } {
  const { keyId, apiKey } = issued.parse(answer.json);
  return { keyId, headers: { "x-api-key": apiKey } };
}

/** Onboards the account and returns its new key. */
export async function onboardAccount(request: CheckedRequest, account: LocalAccount, timestamp = now()) {
  return keyOf(await request(ONBOARD, { body: await onboardingBody(account, { timestamp }) }));
}
