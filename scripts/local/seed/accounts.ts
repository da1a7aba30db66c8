/** The accounts of the seeded history and their first funds. */
import type { LocalAccount } from "viem";
import { anvilAccount } from "../../../lib/chain/client.ts";
import { approveMarketplace, approveUsdc, mintUsdc, type Protocol } from "../protocol/actions/index.ts";

/** Accounts of anvil's mnemonic, without account 1: only the service's relayer sends from that. */
export const seedAccounts = {
  owner: anvilAccount(0),
  alice: anvilAccount(2),
  bob: anvilAccount(3),
  carol: anvilAccount(4),
  dave: anvilAccount(5),
  erin: anvilAccount(6),
  keeper: anvilAccount(7),
} as const;

export const buyers: readonly LocalAccount[] = [
  seedAccounts.alice,
  seedAccounts.bob,
  seedAccounts.carol,
  seedAccounts.dave,
  seedAccounts.erin,
];

/** Dollars in USDC base units (6 decimals). */
export const usdc = (dollars: number): bigint => BigInt(Math.round(dollars * 1e6));

/** Gives the accounts USDC and the approvals that they need, and the buyback engine USDC to spend. */
export async function fundSeedAccounts(protocol: Protocol): Promise<void> {
  const { coverRouter, policyManager, marketplace, buybackEngine } = protocol.deployment.contracts;
  await Promise.all(
    buyers.map(async (buyer) => {
      await mintUsdc(protocol, buyer, buyer.address, usdc(250_000));
      await approveUsdc(protocol, buyer, coverRouter);
      await approveUsdc(protocol, buyer, marketplace);
      await approveMarketplace(protocol, buyer);
    }),
  );
  await mintUsdc(protocol, seedAccounts.owner, seedAccounts.owner.address, usdc(50_000));
  await approveUsdc(protocol, seedAccounts.owner, policyManager);
  await mintUsdc(protocol, seedAccounts.owner, buybackEngine, usdc(3_000));
}
