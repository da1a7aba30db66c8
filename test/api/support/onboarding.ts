import type { Address, Hex, LocalAccount } from "viem";
import { createSiweMessage, generateSiweNonce, type SiweMessage } from "viem/siwe";
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

/** A signed onboarding body with an EIP-4361 message to the api at `url`, on chain 8453 unless `fields` differ. */
export async function signInBody(
  signer: LocalAccount,
  url: string,
  { address = signer.address, ...fields }: Partial<SiweMessage> = {},
): Promise<{ walletAddress: Address; signature: Hex; message: string }> {
  const message = createSiweMessage({
    address,
    domain: new URL(url).host,
    chainId: 8453,
    uri: url,
    version: "1",
    nonce: generateSiweNonce(),
    ...fields,
  });
  return { walletAddress: address, signature: await signer.signMessage({ message }), message };
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
