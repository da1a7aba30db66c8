/** The token's price on local chains: that of the vault's price oracle. */
import { type Address, encodeFunctionData, type LocalAccount, parseEther } from "viem";
import { bondVaultAbi } from "../../../../abis/BondVault.ts";
import { priceOracleAbi } from "../../../../abis/PriceOracle.ts";
import { type Protocol, send } from "./protocol.ts";

export const priceOracleOf = ({ client, deployment }: Protocol): Promise<Address> =>
  client.readContract({
    abi: bondVaultAbi,
    address: deployment.contracts.bondVault,
    functionName: "priceOracle",
  });

/** Sets the token's price, in dollars such as "0.1". Any account may. */
export async function setTokenPrice(protocol: Protocol, account: LocalAccount, dollars: string) {
  const data = encodeFunctionData({
    abi: priceOracleAbi,
    functionName: "setPrice",
    args: [parseEther(dollars)],
  });
  return send(protocol, account, await priceOracleOf(protocol), data);
}

/** Makes the price oracle revert with OracleStale, or answer again. Any account may. */
export async function setPriceStale(protocol: Protocol, account: LocalAccount, stale: boolean) {
  const data = encodeFunctionData({ abi: priceOracleAbi, functionName: "setStale", args: [stale] });
  return send(protocol, account, await priceOracleOf(protocol), data);
}
