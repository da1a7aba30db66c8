/** Tells the launcher's scan for adapters, which is made before an index exists, from what Ponder asks. */
import { encodeEventTopics } from "viem";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";

const registrations = JSON.stringify(
  encodeEventTopics({ abi: policyManagerAbi, eventName: "ProductRegistered" }),
);

/** Whether a call reads logs for the index. */
export const isIndexScan = ({ method, params }: { method: string; params: unknown }): boolean =>
  method === "eth_getLogs" && !JSON.stringify(params).includes(registrations);
