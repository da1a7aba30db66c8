/** Redeems, queues and surrenders bonds. Amounts are whole dollars. */
import {
  type Address,
  encodeFunctionData,
  type LocalAccount,
  parseEventLogs,
  type TransactionReceipt,
} from "viem";
import { bondVaultAbi } from "../../../../abis/BondVault.ts";
import { claimBondAbi } from "../../../../abis/ClaimBond.ts";
import { onlyEvent, type Protocol, send } from "./protocol.ts";

export type Redemption = { readonly receipt: TransactionReceipt } & (
  | { readonly state: "paid"; readonly tokenAmount: bigint; readonly price: bigint }
  | { readonly state: "queued" /** The week in which it can be paid. */; readonly week: bigint }
);

/** The time from which bonds of this epoch can be redeemed, Unix seconds; 0 for an epoch without bonds. */
export const maturityDate = ({ client, deployment }: Protocol, epochId: bigint): Promise<bigint> =>
  client.readContract({
    abi: claimBondAbi,
    address: deployment.contracts.claimBond,
    functionName: "maturityDate",
    args: [epochId],
  });

/** Redeems matured bonds. Above the week's throttle the redemption is queued. */
export async function redeem(
  protocol: Protocol,
  holder: LocalAccount,
  epochId: bigint,
  usdAmount: bigint,
): Promise<Redemption> {
  const receipt = await send(
    protocol,
    holder,
    protocol.deployment.contracts.bondVault,
    encodeFunctionData({ abi: bondVaultAbi, functionName: "redeemBond", args: [epochId, usdAmount] }),
  );
  const [queued] = parseEventLogs({ abi: bondVaultAbi, logs: receipt.logs, eventName: "BondQueued" });
  if (queued) {
    return { state: "queued", week: queued.args.targetThrottleEpoch, receipt };
  }
  const { luminaAmount, priceUsed } = onlyEvent(receipt, bondVaultAbi, "BondRedeemed").args;
  return { state: "paid", tokenAmount: luminaAmount, price: priceUsed, receipt };
}

/** Pays what fits of this week's queue. Any account may. @returns the payments, in order. */
export async function processQueue(protocol: Protocol, account: LocalAccount) {
  const receipt = await send(
    protocol,
    account,
    protocol.deployment.contracts.bondVault,
    encodeFunctionData({ abi: bondVaultAbi, functionName: "processQueue" }),
  );
  const paid = parseEventLogs({ abi: bondVaultAbi, logs: receipt.logs, eventName: "BondRedeemed" });
  return {
    receipt,
    paid: paid.map(({ args }) => ({ holder: args.holder, usd: args.usdAmount, tokens: args.luminaAmount })),
  };
}

/** The holder surrenders bonds without payment. */
export const surrenderBonds = (protocol: Protocol, holder: LocalAccount, epochId: bigint, amount: bigint) =>
  send(
    protocol,
    holder,
    protocol.deployment.contracts.claimBond,
    encodeFunctionData({
      abi: claimBondAbi,
      functionName: "burnByHolder",
      args: [holder.address, epochId, amount],
    }),
  );

/** Lets an account burn tokens of the vault's reserve and lower its obligations, or forbids it. */
export const setAuthorizedCaller = (
  protocol: Protocol,
  owner: LocalAccount,
  caller: Address,
  authorized: boolean,
) =>
  send(
    protocol,
    owner,
    protocol.deployment.contracts.bondVault,
    encodeFunctionData({
      abi: bondVaultAbi,
      functionName: "setAuthorizedCaller",
      args: [caller, authorized],
    }),
  );

/** An authorised caller burns tokens of the vault's reserve, at most 5 % of it. */
export const burnReserves = (protocol: Protocol, caller: LocalAccount, amount: bigint) =>
  send(
    protocol,
    caller,
    protocol.deployment.contracts.bondVault,
    encodeFunctionData({ abi: bondVaultAbi, functionName: "burnFromReserves", args: [amount] }),
  );
