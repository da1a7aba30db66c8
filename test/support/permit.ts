/** Permits of the mock USDC for the cover router, signed as a wallet signs them. */
import { type Address, type LocalAccount, maxUint256 } from "viem";
import { mockUsdcAbi } from "../../abis/MockUSDC.ts";
import { type Permit, permitTypes } from "../../lib/chain/permit.ts";
import type { TestChain } from "./chain.ts";

export type PermitTerms = {
  /** 6 decimals. */
  value: bigint;
  /** Unix seconds; no end when left out. */
  deadline?: bigint;
  /** The account itself when left out; a contract wallet that the account signs for. */
  owner?: Address;
  /** The owner's next one when left out. */
  nonce?: bigint;
  spender?: Address;
  chainId?: number;
};

/** Signs a permit; what is left out is as it has to be. */
export async function signPermit(
  { client, deployment }: Pick<TestChain, "client" | "deployment">,
  account: LocalAccount,
  { value, deadline = maxUint256, owner = account.address, nonce, spender, chainId }: PermitTerms,
): Promise<Permit> {
  const { usdc, coverRouter } = deployment.contracts;
  const read = { address: usdc, abi: mockUsdcAbi, functionName: "nonces", args: [owner] } as const;
  const signature = await account.signTypedData({
    domain: {
      name: "USD Coin",
      version: "2",
      chainId: chainId ?? deployment.chainId,
      verifyingContract: usdc,
    },
    types: permitTypes,
    primaryType: "Permit",
    message: {
      owner,
      spender: spender ?? coverRouter,
      value,
      nonce: nonce ?? (await client.readContract(read)),
      deadline,
    },
  });
  return { value, deadline, signature };
}

/** A permit as the body of a purchase has it. */
export const permitBody = ({ value, deadline, signature }: Permit): Record<keyof Permit, string> => ({
  value: String(value),
  deadline: String(deadline),
  signature,
});

/** What the router may take from an account, 6 decimals. */
export const allowanceOf = ({ client, deployment }: TestChain, owner: Address): Promise<bigint> =>
  client.readContract({
    address: deployment.contracts.usdc,
    abi: mockUsdcAbi,
    functionName: "allowance",
    args: [owner, deployment.contracts.coverRouter],
  });
