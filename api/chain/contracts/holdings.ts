/** A wallet's bonds, from the claim bond's logs and balances. */
import { type Address, encodeEventTopics, formatLog, parseEventLogs } from "viem";
import { claimBondAbi } from "../../../abis/ClaimBond.ts";
import type { ReadClient } from "../../../lib/chain/client.ts";
import { type BlockRange, type LogScan, LogScanError, scanLogs } from "../../../lib/chain/log-scan.ts";
import type { Contracts } from "../../../lib/deployments.ts";

/** One address's bonds of one epoch, in whole dollars; `maturityDate` in Unix seconds, null when unset. */
export type ChainHolding = { epochId: bigint; amount: bigint; maturityDate: bigint | null };

/** The epochs of all bonds that the wallet received in the range. */
async function scanEpochs(
  scan: LogScan,
  { claimBond: address }: Contracts,
  wallet: Address,
  range: BlockRange,
): Promise<Set<bigint>> {
  const to = { abi: claimBondAbi, args: { to: wallet } } as const;
  const [single, ...received] = encodeEventTopics({ ...to, eventName: "TransferSingle" });
  const [batch] = encodeEventTopics({ ...to, eventName: "TransferBatch" });
  const topics = [[single, batch], ...received];
  const epochs = new Set<bigint>();
  await scanLogs(scan, { address, topics }, range, (logs) => {
    const transfers = parseEventLogs({
      abi: claimBondAbi,
      eventName: ["TransferSingle", "TransferBatch"],
      logs: logs.map((log) => formatLog(log)),
    });
    if (transfers.length !== logs.length) throw new LogScanError("a log is not a transfer of bonds");
    for (const { eventName, args } of transfers) {
      for (const id of eventName === "TransferSingle" ? [args.id] : args.ids) epochs.add(id);
    }
  });
  return epochs;
}

/**
 * The wallet's balances above zero at the end of the range, ascending by epoch.
 * @throws as `scanLogs`; also rejects when the node does not answer
 */
export async function scanHoldings(
  scan: LogScan,
  chain: ReadClient,
  contracts: Contracts,
  wallet: Address,
  range: BlockRange,
): Promise<ChainHolding[]> {
  const epochs = await scanEpochs(scan, contracts, wallet, range);
  const bond = { address: contracts.claimBond, abi: claimBondAbi, blockNumber: range.to } as const;
  const holdings = await Promise.all(
    [...epochs].map(async (epochId) => {
      const [amount, maturityDate] = await Promise.all([
        chain.readContract({ ...bond, functionName: "balanceOf", args: [wallet, epochId] }),
        chain.readContract({ ...bond, functionName: "maturityDate", args: [epochId] }),
      ]);
      return { epochId, amount, maturityDate: maturityDate === 0n ? null : maturityDate };
    }),
  );
  return holdings.filter(({ amount }) => amount > 0n).sort((a, b) => (a.epochId < b.epochId ? -1 : 1));
}
