/** Redeems, queues and surrenders bonds. Amounts are whole dollars. */
import { encodeFunctionData, type LocalAccount, parseEventLogs, type TransactionReceipt } from "viem";
import { bondVaultAbi } from "../../../../abis/BondVault.ts";
import { claimBondAbi } from "../../../../abis/ClaimBond.ts";
import { onlyEvent, type Protocol, send } from "./protocol.ts";

export type Redemption = { readonly receipt: TransactionReceipt } & (
  | { readonly state: "paid"; readonly tokenAmount: bigint; readonly price: bigint }
  | { readonly state: "queued"; readonly queueId: bigint; readonly targetEpoch: bigint }
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
    const { queueId, targetEpoch } = queued.args;
    return { state: "queued", queueId, targetEpoch, receipt };
  }
  const { tokenAmount, priceUsed } = onlyEvent(receipt, bondVaultAbi, "BondRedeemed").args;
  return { state: "paid", tokenAmount, price: priceUsed, receipt };
}

/** Pays the queue up to a redemption epoch (a week). Any account may. @returns the ids of the paid entries. */
export async function processQueue(
  protocol: Protocol,
  account: LocalAccount,
  epoch: bigint,
): Promise<bigint[]> {
  const receipt = await send(
    protocol,
    account,
    protocol.deployment.contracts.bondVault,
    encodeFunctionData({ abi: bondVaultAbi, functionName: "processQueue", args: [epoch] }),
  );
  return parseEventLogs({ abi: bondVaultAbi, logs: receipt.logs, eventName: "QueueProcessed" }).map(
    (event) => event.args.queueId,
  );
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

/** The owner burns unused tokens of the vault's reserve. */
export const burnReserves = (protocol: Protocol, owner: LocalAccount, amount: bigint) =>
  send(
    protocol,
    owner,
    protocol.deployment.contracts.bondVault,
    encodeFunctionData({ abi: bondVaultAbi, functionName: "burnReserves", args: [amount] }),
  );
