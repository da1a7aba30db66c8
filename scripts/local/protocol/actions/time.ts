/** The clock of a local chain. */
import type { Protocol } from "./protocol.ts";

/** Timestamp of the newest block, Unix seconds. */
export const chainTime = async ({ client }: Protocol): Promise<bigint> => (await client.getBlock()).timestamp;

type AnvilTime = { Method: "evm_setNextBlockTimestamp"; Parameters: [number]; ReturnType: null };
type AnvilMine = { Method: "evm_mine"; Parameters?: undefined; ReturnType: string };
type AnvilSnapshot = { Method: "evm_snapshot"; Parameters?: undefined; ReturnType: string };
type AnvilRevert = { Method: "evm_revert"; Parameters: [string]; ReturnType: boolean };

/** The next block gets this timestamp, and time runs on from there. It must lie after the newest block's. */
export async function nextBlockAt({ client }: Protocol, timestamp: bigint): Promise<void> {
  await client.request<AnvilTime>({ method: "evm_setNextBlockTimestamp", params: [Number(timestamp)] });
}

/** Mines an empty block at this time. */
export async function mineAt(protocol: Protocol, timestamp: bigint): Promise<void> {
  await nextBlockAt(protocol, timestamp);
  await protocol.client.request<AnvilMine>({ method: "evm_mine" });
}

/** Mines an empty block `seconds` after the newest one; returns its timestamp. */
export async function timeTravel(protocol: Protocol, seconds: bigint): Promise<bigint> {
  const timestamp = (await chainTime(protocol)) + seconds;
  await mineAt(protocol, timestamp);
  return timestamp;
}

/** Remembers the chain's state; the returned id serves once. */
export const snapshot = ({ client }: Protocol): Promise<string> =>
  client.request<AnvilSnapshot>({ method: "evm_snapshot" });

/** Takes the chain back to a snapshot. */
export async function revertTo({ client }: Protocol, id: string): Promise<void> {
  const done = await client.request<AnvilRevert>({ method: "evm_revert", params: [id] });
  if (!done) throw new Error(`anvil has no snapshot ${id}`);
}
