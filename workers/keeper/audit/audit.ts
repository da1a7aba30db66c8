/** The keeper's audit: every policy that could have been triggered and was not, from the chain alone. */

import type { BlockRange } from "../../../lib/chain/log-scan.ts";
import type { DuePolicy } from "../../../lib/indexed/due.ts";
import type { NeverPayableReason } from "../../../lib/keeper-audit.ts";
import { smaller } from "../../common/bigints.ts";
import type { BlockClock } from "../from-chain/block-clock.ts";
import { type CoverChain, type Moment, readUpTo } from "../from-chain/cover-chain.ts";
import { duePolicies } from "../from-chain/due.ts";
import type { CoveredPolicy, History, SoldPolicy } from "../from-chain/history.ts";
import { type Confirmation, confirm } from "./confirm.ts";
import type { Downtime } from "./downtime.ts";
import { readHistory } from "./read-history.ts";
import { judge, type Verdict } from "./verdict.ts";

/** A block and its time, Unix seconds. */
export type BlockTime = { readonly block: bigint; readonly time: bigint };

/** A policy that could have been triggered and was not. */
export type MissedPolicy = {
  readonly policy: CoveredPolicy;
  readonly first: BlockTime;
  readonly last: BlockTime;
  readonly confirmation: Confirmation;
};

export type NeverPayablePolicy = { readonly policy: CoveredPolicy; readonly reason: NeverPayableReason };

/** What became of the policies that ended in a range of blocks, and which are open at its end. */
export type Audit = {
  readonly range: BlockRange;
  /** The range's last block. */
  readonly until: Pick<Moment, "number" | "hash" | "timestamp">;
  readonly triggered: number;
  readonly notMet: number;
  readonly missed: readonly MissedPolicy[];
  /** Missed in blocks that all lie in the stated downtime. */
  readonly missedWhileDown: readonly MissedPolicy[];
  /** The reasoning says that these were payable, and the chain says no. */
  readonly refused: readonly MissedPolicy[];
  readonly neverPayable: readonly NeverPayablePolicy[];
  /** Policies that were sold in the range with unknown terms: of a product that the catalogue lacks. */
  readonly unknown: readonly SoldPolicy[];
  readonly open: number;
  /** Those of the open policies that a trigger would pay at the range's end, by deadline. */
  readonly due: readonly DuePolicy[];
};

export type AuditOptions = {
  readonly fromBlock: bigint;
  /** Undefined is the newest block. */
  readonly toBlock: bigint | undefined;
  readonly downtime?: readonly Downtime[];
};

/** Policies that are judged at the same time: they share the headers that the clock has read. */
const CONCURRENT = 20;
/** Blocks of one piece of an audit: a week on an L2. What is read before a piece, the longest duration, is shorter. */
const PIECE = 300_000n;

/** A piece of the chain that is audited. */
type Piece = {
  readonly chain: CoverChain;
  readonly history: History;
  readonly clock: BlockClock;
  readonly downtime: readonly Downtime[];
};

/** A policy's verdict; of a missed one with its blocks' times, and what the chain says. */
type Judged = { readonly policy: CoveredPolicy; readonly verdict: Verdict; readonly missed?: MissedPolicy };

async function judgeOne({ chain, history, clock, downtime }: Piece, policy: CoveredPolicy): Promise<Judged> {
  const verdict = await judge(policy, history, clock, downtime);
  if (verdict.is !== "missed" && verdict.is !== "missed_while_down") return { policy, verdict };
  const { first, last } = verdict.payable;
  const timed = async (block: bigint): Promise<BlockTime> => ({ block, time: await clock.timeOf(block) });
  const confirmation = await confirm(chain, policy, history, clock, verdict.payable);
  const missed = { policy, first: await timed(first), last: await timed(last), confirmation };
  return { policy, verdict, missed };
}

async function judgeAll(piece: Piece, policies: readonly CoveredPolicy[]): Promise<Judged[]> {
  const judged: Judged[] = [];
  for (let start = 0; start < policies.length; start += CONCURRENT) {
    piece.chain.signal.throwIfAborted();
    const some = policies.slice(start, start + CONCURRENT);
    judged.push(...(await Promise.all(some.map((policy) => judgeOne(piece, policy)))));
  }
  return judged;
}

async function auditPiece(
  chain: CoverChain,
  range: BlockRange,
  until: Moment,
  clock: BlockClock,
  downtime: readonly Downtime[],
): Promise<Audit> {
  const { history, policies, triggered, unknown } = await readHistory(chain, range, clock);
  const judged = await judgeAll({ chain, history, clock, downtime }, policies);
  const missedOf = (is: Verdict["is"]) =>
    judged.flatMap(({ verdict, missed }) =>
      missed && verdict.is === is && missed.confirmation.is !== "refused" ? [missed] : [],
    );
  const count = (is: Verdict["is"]) => judged.filter(({ verdict }) => verdict.is === is).length;
  const open = judged.flatMap(({ policy, verdict }) => (verdict.is === "open" ? [policy] : []));
  return {
    range,
    until,
    triggered: triggered.length,
    notMet: count("not_met"),
    missed: missedOf("missed"),
    missedWhileDown: missedOf("missed_while_down"),
    refused: judged.flatMap(({ missed }) => (missed?.confirmation.is === "refused" ? [missed] : [])),
    neverPayable: judged.flatMap(({ policy, verdict }) =>
      verdict.is === "never_payable" ? [{ policy, reason: verdict.reason }] : [],
    ),
    unknown,
    open: open.length,
    due: duePolicies(open, history, until.timestamp),
  };
}

/** The audit of two adjacent ranges; what is open is open at the end of the later one. */
const joined = (a: Audit, b: Audit): Audit => ({
  range: { from: a.range.from, to: b.range.to },
  until: b.until,
  triggered: a.triggered + b.triggered,
  notMet: a.notMet + b.notMet,
  missed: [...a.missed, ...b.missed],
  missedWhileDown: [...a.missedWhileDown, ...b.missedWhileDown],
  refused: [...a.refused, ...b.refused],
  neverPayable: [...a.neverPayable, ...b.neverPayable],
  unknown: [...a.unknown, ...b.unknown],
  open: b.open,
  due: b.due,
});

/**
 * Judges every policy that ended in a range of blocks: that was triggered in it, or whose window ended in it. Counts the
 * policies that are open at the range's end. Reads logs, views and headers, a piece of the range at a time, and no table of ours.
 * The audits of adjacent ranges add up.
 * @throws ReorganisedError, and LogScanError; also rejects when the node does not answer
 */
export async function audit(
  chain: CoverChain,
  { fromBlock, toBlock, downtime = [] }: AuditOptions,
): Promise<Audit> {
  let sum: Audit | undefined;
  const last = toBlock ?? (await chain.clients.reads.getBlockNumber());
  for (let from = fromBlock; from <= last; from += PIECE) {
    const to = smaller(from + PIECE - 1n, last);
    const piece = await readUpTo(chain, to, (until, clock) =>
      auditPiece(chain, { from, to }, until, clock, downtime),
    );
    sum = sum ? joined(sum, piece) : piece;
  }
  if (!sum) throw new RangeError(`there is no block from ${fromBlock} to ${last}`);
  return sum;
}

/** Counts of policies whose end was in a range. */
export type ClosedCounts = {
  readonly missed: number;
  readonly missedWhileDown: number;
  /** Payable by our reasoning, and refused by the chain. */
  readonly refused: number;
  readonly neverPayable: Readonly<Record<NeverPayableReason, number>>;
};

/**
 * The running audit: counts the policies that ended from `fromBlock` to `toBlock`. A writer that calls it for adjacent ranges counts
 * each policy once. It reads, beside the range, the products' longest duration before it; terms that `chain` knows are not read
 * again.
 * @throws as {@link audit}
 */
export async function auditClosed(
  chain: CoverChain,
  options: AuditOptions & { readonly toBlock: bigint },
): Promise<ClosedCounts> {
  const { missed, missedWhileDown, refused, neverPayable } = await audit(chain, options);
  const counts: Record<NeverPayableReason, number> = {
    sequencer_down: 0,
    paused: 0,
    sequencer_down_and_paused: 0,
    last_block: 0,
    stale: 0,
    payout_too_small: 0,
  };
  for (const { reason } of neverPayable) counts[reason] += 1;
  return {
    missed: missed.length,
    missedWhileDown: missedWhileDown.length,
    refused: refused.length,
    neverPayable: counts,
  };
}
