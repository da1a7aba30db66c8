/** Reads every log of some events in a range of blocks, decoded. */
import {
  type Abi,
  type Address,
  type ContractEventName,
  type ParseEventLogsReturnType,
  parseEventLogs,
  toEventSelector,
} from "viem";
import { type BlockRange, LogScanError } from "../../../lib/chain/log-scan.ts";
import type { CoverChain } from "./cover-chain.ts";
import { readLogs } from "./settled-logs.ts";

/**
 * The logs of these events of these contracts, in the order of the chain. Without an address it reads nothing.
 * @throws LogScanError when a window of logs could not be read, or when a log does not fit its event; the signal's reason
 */
export async function scanEvents<const abi extends Abi, const name extends ContractEventName<abi>>(
  { clients, window, signal, settled }: CoverChain,
  { abi, names, address }: { abi: abi; names: readonly name[]; address: readonly Address[] },
  range: BlockRange,
): Promise<ParseEventLogsReturnType<abi, name[], true>> {
  const wanted: readonly string[] = names;
  const selectors = abi.flatMap((item) =>
    item.type === "event" && wanted.includes(item.name) ? [toEventSelector(item)] : [],
  );
  const logScan = { client: clients.logs, reads: clients.reads, window, signal, settled };
  const logs = address.length === 0 ? [] : await readLogs(logScan, { address, topics: [selectors] }, range);
  const events = parseEventLogs<abi, true, name[]>({ abi, eventName: [...names], logs });
  if (events.length !== logs.length) throw new LogScanError("a log does not fit its event");
  return events;
}
