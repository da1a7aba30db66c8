/** One local chain with the protocol for a test file. Each test starts with the state after the deployment. */
import type { LocalAccount } from "viem";
import { afterEach, beforeAll, beforeEach, expect } from "vitest";
import { anvilAccount } from "../../lib/chain/client.ts";
import {
  approveUsdc,
  mintUsdc,
  openProtocol,
  type Protocol,
  RevertedError,
  refreshFeeds,
  snapshot,
} from "../../scripts/local/protocol/actions/index.ts";
import { startChain } from "../support/chain.ts";
import { revertTo, timeTravel } from "../support/protocol-actions.ts";

export const owner = anvilAccount(0);
/** On the router's allowlist. */
export const relayer = anvilAccount(1);
export const alice = anvilAccount(2);
export const bob = anvilAccount(3);
export const stranger = anvilAccount(9);

export const USDC = 1_000_000n;
export const HOUR = 3_600n;
export const DAY = 86_400n;
export const TOKEN = 10n ** 18n;
/** 1 January 2030, so that dates do not depend on the day of the run. */
export const GENESIS = 1_893_456_000n;

/**
 * Starts a chain with the protocol before the file's tests, and reverts to that state after each test. The owner, Alice and
 * Bob each have a million USDC and allowances for the router, the policy manager and the marketplace.
 */
export function useProtocol(options: { readonly retired?: boolean } = {}): () => Protocol {
  let protocol: Protocol | undefined;
  let saved = "";
  const get = () => {
    if (!protocol) throw new Error("the chain has not started");
    return protocol;
  };
  beforeAll(async () => {
    const { deployment, url } = await startChain({ timestamp: GENESIS, ...options });
    protocol = openProtocol(deployment, url);
    for (const account of [owner, alice, bob]) await fund(protocol, account);
  });
  beforeEach(async () => {
    saved = await snapshot(get());
  });
  afterEach(() => revertTo(get(), saved));
  return get;
}

async function fund(protocol: Protocol, account: LocalAccount): Promise<void> {
  const { coverRouter, policyManager, marketplace } = protocol.deployment.contracts;
  await mintUsdc(protocol, account, account.address, 1_000_000n * USDC);
  for (const spender of [coverRouter, policyManager, marketplace])
    await approveUsdc(protocol, account, spender);
}

/** Moves time and refreshes the feeds, as their heartbeat would. */
export async function travel(protocol: Protocol, seconds: bigint): Promise<void> {
  await timeTravel(protocol, seconds);
  await refreshFeeds(protocol, owner);
}

/** Expects a mined transaction that reverted with exactly this reason. */
export async function expectRevert(action: Promise<unknown>, text: string): Promise<void> {
  const outcome = await action.then(
    () => "it succeeded",
    (error: unknown) => (error instanceof RevertedError ? error.message : error),
  );
  expect(outcome).toBe(text);
}
