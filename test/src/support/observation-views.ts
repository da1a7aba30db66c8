/** The observations of policies: from the shields' views, and what these lack from their logs and the feeds' rounds. */
import { type Address, isAddressEqual, parseEventLogs, stringToHex } from "viem";
import { flashShieldAbi } from "../../../abis/FlashShield.ts";
import type { Deployment } from "../../../lib/deployments.ts";
import type { TestClient } from "../../support/chain.ts";
import { isBefore } from "./logs.ts";
import { rounds } from "./oracle-views.ts";
import type { Row } from "./rows.ts";

const RESET = stringToHex("RESET", { size: 32 });

/** A policy of a shield, with the asset that it covers. */
type Observed = { readonly shield: Address; readonly policyId: bigint; readonly asset: string };

/** Reads all observations. @returns a function of a policy, which gives the columns of its row. */
export async function observations(client: TestClient, deployment: Deployment) {
  const [logs, answers] = await Promise.all([client.getLogs({ fromBlock: 0n }), rounds(client, deployment)]);
  const events = parseEventLogs({
    ...{ abi: flashShieldAbi, logs, eventName: ["ConfirmationObserved", "PolicyVerified"] },
  });
  /** The time of the round that a feed answered at a log. */
  function answeredAt(asset: string, log: { blockNumber: bigint; logIndex: number }): unknown {
    const at = { block_number: log.blockNumber, log_index: log.logIndex };
    const known = answers.filter((round) => round.asset === asset && isBefore(round, at));
    const phase = Math.max(...known.map((round) => Number(round.phase)));
    return known.findLast((round) => round.phase === phase)?.updated_at ?? null;
  }
  return async ({ shield, policyId, asset }: Observed): Promise<Row> => {
    const view = { abi: flashShieldAbi, address: shield, functionName: "getConfirmation" } as const;
    const [count, observedAt] = await client.readContract({ ...view, args: [policyId] });
    const own = events.filter(
      ({ address, args }) => isAddressEqual(address, shield) && args.policyId === policyId,
    );
    const last = own.findLast(({ eventName }) => eventName === "ConfirmationObserved");
    const changed = own.findLast(
      (event) => event.eventName === "ConfirmationObserved" || event.args.reason === RESET,
    );
    return {
      observations: count,
      observed_at: observedAt === 0n ? null : String(observedAt),
      observed_round: last === undefined ? null : answeredAt(asset, last),
      observed_in: changed === undefined ? null : String(changed.blockNumber),
    };
  };
}
