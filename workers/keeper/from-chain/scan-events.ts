/** Reads every log of some events in a range of blocks, decoded. */
import {
  type Abi,
  type Address,
  type ContractEventName,
  formatLog,
  type ParseEventLogsReturnType,
  parseEventLogs,
  type RpcLog,
  toEventSelector,
} from "viem";
import { type BlockRange, LogScanError, scanLogs } from "../../../lib/chain/log-scan.ts";
import type { CoverChain } from "./cover-chain.ts";

/**
 * The logs of these events of these contracts, in the order of the chain. Without an address it reads nothing.
 * @throws LogScanError when a window of logs could not be read, or when a log does not fit its event; the signal's reason
 */
export async function scanEvents<const abi extends Abi, const name extends ContractEventName<abi>>(
  { clients, window, signal }: CoverChain,
  { abi, names, address }: { abi: abi; names: readonly name[]; address: readonly Address[] },
  range: BlockRange,
): Promise<ParseEventLogsReturnType<abi, name[], true>> {
  const wanted: readonly string[] = names;
  const selectors = abi.flatMap((item) =>
    item.type === "event" && wanted.includes(item.name) ? [toEventSelector(item)] : [],
  );
  const found: RpcLog[] = [];
  if (address.length > 0)
    await scanLogs(
      { client: clients.logs, window, signal },
      { address, topics: [selectors] },
      range,
      (logs) => {
        // Not by spreading: a window may have more logs than a call may have arguments.
        for (const log of logs) found.push(log);
      },
    );
  const logs = found.map((log) => formatLog(log));
  logs.sort(
    (a, b) => Number((a.blockNumber ?? 0n) - (b.blockNumber ?? 0n)) || (a.logIndex ?? 0) - (b.logIndex ?? 0),
  );
  const events = parseEventLogs<abi, true, name[]>({ abi, eventName: [...names], logs });
  if (events.length !== logs.length) throw new LogScanError("a log does not fit its event");
  return events;
}
