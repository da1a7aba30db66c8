/** Who plays in the seeded history, and what they have when it begins. */
import { encodeFunctionData, type LocalAccount } from "viem";
import { twapBurnerAbi } from "../../../abis/TwapBurner.ts";
import { anvilAccount } from "../../../lib/chain/client.ts";
import { approveMarketplace, approveUsdc, mintUsdc, type Protocol, send } from "../protocol/actions/index.ts";
import { allTerms, type ProductTerms } from "../protocol/terms.ts";

/** Accounts of anvil's mnemonic; account 1 is the relayer's, which sends for the service alone. */
export const cast = {
  owner: anvilAccount(0),
  alice: anvilAccount(2),
  bob: anvilAccount(3),
  carol: anvilAccount(4),
  dave: anvilAccount(5),
  erin: anvilAccount(6),
  keeper: anvilAccount(7),
} as const;

export const buyers: readonly LocalAccount[] = [cast.alice, cast.bob, cast.carol, cast.dave, cast.erin];

/** USDC have 6 decimals. */
export const usdc = (dollars: number): bigint => BigInt(Math.round(dollars * 1e6));

export function productNamed(name: string): ProductTerms {
  const terms = allTerms.find((t) => t.name === name);
  if (!terms) throw new Error(`no product ${name}`);
  return terms;
}

/** Gives everyone USDC and the approvals that they need, and makes the keeper one. */
export async function equipCast(protocol: Protocol): Promise<void> {
  const { coverRouter, policyManager, marketplace, twapBurner, buybackEngine } =
    protocol.deployment.contracts;
  await Promise.all(
    buyers.map(async (buyer) => {
      await mintUsdc(protocol, buyer, buyer.address, usdc(250_000));
      await approveUsdc(protocol, buyer, coverRouter);
      await approveUsdc(protocol, buyer, marketplace);
      await approveMarketplace(protocol, buyer);
    }),
  );
  await mintUsdc(protocol, cast.owner, cast.owner.address, usdc(50_000));
  await approveUsdc(protocol, cast.owner, policyManager);
  for (const burner of [twapBurner, buybackEngine])
    await send(
      protocol,
      cast.owner,
      burner,
      encodeFunctionData({
        abi: twapBurnerAbi,
        functionName: "setKeeper",
        args: [cast.keeper.address, true],
      }),
    );
}
