/** One evaluation of a policy by each of the two ways that observe. */
import { hexToString, parseEventLogs, type TransactionReceipt } from "viem";
import { flashShieldAbi } from "../../abis/FlashShield.ts";
import { shieldKeeperAbi } from "../../abis/ShieldKeeper.ts";
import { decodeRevert } from "../../lib/chain/reverts.ts";
import * as act from "../support/protocol-actions.ts";
import { relayer, stranger } from "./support.ts";

const events = [...flashShieldAbi, ...shieldKeeperAbi];

/** What became of each id of a performUpkeep: ACCRUING, RESET, TRIGGER_DROP, WINDOW_EXPIRED, or why it failed. */
export const outcomesOf = ({ logs }: TransactionReceipt): string[] =>
  parseEventLogs({ abi: events, logs }).flatMap((event) => {
    if (event.eventName === "PolicyVerified") return [hexToString(event.args.reason, { size: 32 })];
    return event.eventName === "SettlementFailed" ? [decodeRevert(event.args.reason).text] : [];
  });

/** What a performUpkeep of one policy results in; at this time, or at once. */
export async function observed(
  protocol: act.Protocol,
  product: act.ProductRef,
  policyId: bigint,
  at?: bigint,
): Promise<string> {
  if (at !== undefined) await act.nextBlockAt(protocol, at);
  return outcomesOf(await act.observe(protocol, stranger, product, [policyId])).join();
}

/** What a submitTrigger without proof results in: "paid", or its revert. */
export async function submitted(
  protocol: act.Protocol,
  product: act.ProductRef,
  policyId: bigint,
  at?: bigint,
): Promise<string> {
  if (at !== undefined) await act.nextBlockAt(protocol, at);
  return act.submitTrigger(protocol, relayer, product, policyId).then(
    () => "paid",
    (error: unknown) => {
      if (error instanceof act.RevertedError) return error.message;
      throw error;
    },
  );
}

/**
 * What submitTrigger and performUpkeep result in at this time, or now. Each starts from the same state, and the chain keeps
 * what the second did.
 */
export async function bothWays(
  protocol: act.Protocol,
  product: act.ProductRef,
  policyId: bigint,
  at?: bigint,
): Promise<[submitTrigger: string, performUpkeep: string]> {
  const time = at ?? (await act.chainTime(protocol)) + 1n;
  const saved = await act.snapshot(protocol);
  const first = await submitted(protocol, product, policyId, time);
  await act.revertTo(protocol, saved);
  return [first, await observed(protocol, product, policyId, time)];
}
