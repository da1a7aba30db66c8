/** The clock of a local chain. */
import type { Protocol } from "./protocol.ts";

/** Timestamp of the newest block, Unix seconds. */
export const chainTime = async ({ client }: Protocol): Promise<bigint> => (await client.getBlock()).timestamp;

type AnvilTime = { Method: "evm_setNextBlockTimestamp"; Parameters: [number]; ReturnType: null };
type AnvilSnapshot = { Method: "evm_snapshot"; Parameters?: undefined; ReturnType: string };

/** Sets the next block's timestamp, from which time continues. It must be later than the newest block's. */
export async function nextBlockAt({ client }: Protocol, timestamp: bigint): Promise<void> {
  await client.request<AnvilTime>({ method: "evm_setNextBlockTimestamp", params: [Number(timestamp)] });
}

/** Saves the chain's state. The returned id can be used once. */
export const snapshot = ({ client }: Protocol): Promise<string> =>
  client.request<AnvilSnapshot>({ method: "evm_snapshot" });
