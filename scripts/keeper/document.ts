/** An audit as a JSON document: on-chain integers and times (Unix seconds) are decimal strings. */

import { neverPayableReasons } from "../../lib/keeper-audit.ts";
import type { Audit, BlockTime, MissedPolicy } from "../../workers/keeper/audit/audit.ts";
import type { Downtime } from "../../workers/keeper/audit/replay.ts";
import type { SoldPolicy } from "../../workers/keeper/from-chain/history.ts";

const policyOf = ({ productId, policyId, buyer, coverage, payout, soldIn }: SoldPolicy) => ({
  productId,
  policyId: String(policyId),
  buyer,
  coverage: String(coverage),
  payout: String(payout),
  soldInBlock: String(soldIn),
});

const blockOf = ({ block, time }: BlockTime) => ({ block: String(block), timestamp: String(time) });

const missedOf = ({ policy, first, last, payout }: MissedPolicy) => ({
  ...policyOf(policy),
  expiresAt: String(policy.terms.endsAt),
  firstPayable: blockOf(first),
  lastPayable: blockOf(last),
  confirmation: payout.is,
  ...(payout.is === "refused" || payout.is === "undecided" ? { refusal: payout.reason } : {}),
});

/** The document that `--json` prints. Coverage and payout have 6 decimals. */
export function auditDocument(
  found: Audit,
  { chainId, downtime }: { chainId: number; downtime: readonly Downtime[] },
) {
  return {
    chainId,
    fromBlock: String(found.range.from),
    toBlock: String(found.range.to),
    toBlockHash: found.until.hash,
    toTimestamp: String(found.until.timestamp),
    downtime: downtime.map(({ from, to }) => ({ from: String(from), to: String(to) })),
    counts: {
      triggered: found.triggered,
      missed: found.missed.length,
      missedWhileDown: found.missedWhileDown.length,
      missedContracts: found.missedContracts.length,
      refused: found.refused.length,
      neverPayable: Object.fromEntries(
        neverPayableReasons.map((reason) => [
          reason,
          found.neverPayable.filter((one) => one.reason === reason).length,
        ]),
      ),
      notMet: found.notMet,
      unknown: found.unknown.length,
      open: found.open,
      due: found.due.length,
    },
    missed: found.missed.map(missedOf),
    missedWhileDown: found.missedWhileDown.map(missedOf),
    missedContracts: found.missedContracts.map(missedOf),
    refused: found.refused.map(missedOf),
    neverPayable: found.neverPayable.map(({ policy, reason }) => ({ ...policyOf(policy), reason })),
    unknown: found.unknown.map(policyOf),
    due: found.due.map(({ productId, policyId, buyer, expiresAt, observation, lastMoment }) => ({
      productId,
      policyId: String(policyId),
      buyer,
      expiresAt: String(expiresAt),
      observation,
      lastMoment: String(lastMoment),
    })),
  };
}
