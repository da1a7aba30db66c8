/** One local chain with the whole protocol for a test file; each test begins where the deployment ended. */
import type { LocalAccount } from "viem";
import { afterEach, beforeAll, beforeEach, expect } from "vitest";
import { anvilAccount } from "../../lib/chain/client.ts";
import {
  approveUsdc,
  chainTime,
  mintUsdc,
  nextBlockAt,
  openProtocol,
  type Protocol,
  RevertedError,
  refreshFeeds,
  revertTo,
  snapshot,
  timeTravel,
} from "../../scripts/local/protocol/actions/index.ts";
import { catalogueTerms, type ProductTerms } from "../../scripts/local/protocol/terms.ts";
import { startChain } from "../support/chain.ts";

export const owner = anvilAccount(0);
/** On the allowlist of every chain that `startChain` makes. */
export const relayer = anvilAccount(1);
export const alice = anvilAccount(2);
export const bob = anvilAccount(3);
export const stranger = anvilAccount(9);

export const USDC = 1_000_000n;
export const HOUR = 3_600n;
export const DAY = 86_400n;
export const TOKEN = 10n ** 18n;
/** The first of January 2030: dates in the tests do not depend on the day they run. */
export const GENESIS = 1_893_456_000n;

/** The terms of a product of the catalogue. */
export function termsOf(name: string): ProductTerms {
  const terms = catalogueTerms.find((t) => t.name === name);
  if (!terms) throw new Error(`no product ${name}`);
  return terms;
}

/**
 * Starts a chain with the protocol before the file's tests and takes it back to that state after each of them. Alice
 * and Bob hold a million USDC each, and the router, the manager and the marketplace may take it.
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
    for (const account of [owner, alice, bob]) await equip(protocol, account);
  });
  beforeEach(async () => {
    saved = await snapshot(get());
  });
  afterEach(() => revertTo(get(), saved));
  return get;
}

async function equip(protocol: Protocol, account: LocalAccount): Promise<void> {
  const { coverRouter, policyManager, marketplace } = protocol.deployment.contracts;
  await mintUsdc(protocol, account, account.address, 1_000_000n * USDC);
  for (const spender of [coverRouter, policyManager, marketplace])
    await approveUsdc(protocol, account, spender);
}

/** Travels, and lets the feeds report again on arrival, as real ones do. */
export async function travel(protocol: Protocol, seconds: bigint): Promise<void> {
  await timeTravel(protocol, seconds);
  await refreshFeeds(protocol, owner);
}

/** The next transaction is mined exactly `seconds` after the newest block. */
export const nextAfter = async (protocol: Protocol, seconds: bigint): Promise<void> =>
  nextBlockAt(protocol, (await chainTime(protocol)) + seconds);

/** Expects a mined revert whose decoded reason is exactly this text. */
export async function expectRevert(action: Promise<unknown>, text: string): Promise<void> {
  const outcome = await action.then(
    () => "it went through",
    (error: unknown) => (error instanceof RevertedError ? error.message : error),
  );
  expect(outcome).toBe(text);
}
