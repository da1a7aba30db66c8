/** Burns protocol tokens. */
import { encodeFunctionData, type LocalAccount } from "viem";
import { protocolTokenAbi } from "../../../../abis/ProtocolToken.ts";
import { twapBurnerAbi } from "../../../../abis/TwapBurner.ts";
import { onlyEvent, type Protocol, send } from "./protocol.ts";

export type BurnerKind = "twapBurner" | "buybackEngine";

/** The owner or a keeper makes a burner spend `usdcAmount` (6 decimals) of its income. @returns the burned amount. */
export async function executeBurn(
  protocol: Protocol,
  keeper: LocalAccount,
  kind: BurnerKind,
  usdcAmount: bigint,
) {
  const receipt = await send(
    protocol,
    keeper,
    protocol.deployment.contracts[kind],
    encodeFunctionData({ abi: twapBurnerAbi, functionName: "executeBurn", args: [usdcAmount] }),
  );
  const { tokenBurned, effectivePrice } = onlyEvent(receipt, twapBurnerAbi, "BurnExecuted").args;
  return { tokenBurned, effectivePrice, receipt };
}

/** A holder burns tokens (18 decimals) directly. */
export const burnTokens = (protocol: Protocol, holder: LocalAccount, amount: bigint) =>
  send(
    protocol,
    holder,
    protocol.deployment.contracts.protocolToken,
    encodeFunctionData({ abi: protocolTokenAbi, functionName: "burn", args: [amount] }),
  );
