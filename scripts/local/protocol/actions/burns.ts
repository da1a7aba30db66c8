/** Burns protocol tokens. */
import { encodeFunctionData, type LocalAccount } from "viem";
import { protocolTokenAbi } from "../../../../abis/ProtocolToken.ts";
import { twapBurnerAbi } from "../../../../abis/TwapBurner.ts";
import { onlyEvent, type Protocol, send } from "./protocol.ts";

/** Anybody makes the burner spend its USDC, once in the cooldown. @returns what was burned, and the price with 6 decimals. */
export async function executeBurn(protocol: Protocol, account: LocalAccount) {
  const receipt = await send(
    protocol,
    account,
    protocol.deployment.contracts.twapBurner,
    encodeFunctionData({ abi: twapBurnerAbi, functionName: "executeBurn" }),
  );
  const { usdcSpent, tokenBurned, effectivePrice } = onlyEvent(receipt, twapBurnerAbi, "BurnExecuted").args;
  return { usdcSpent, tokenBurned, effectivePrice, receipt };
}

/** A holder burns tokens (18 decimals) directly. */
export const burnTokens = (protocol: Protocol, holder: LocalAccount, amount: bigint) =>
  send(
    protocol,
    holder,
    protocol.deployment.contracts.protocolToken,
    encodeFunctionData({ abi: protocolTokenAbi, functionName: "burn", args: [amount] }),
  );
