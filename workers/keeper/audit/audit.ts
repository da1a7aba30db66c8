/** The keeper's audit: every policy that could have been paid and was not, from the chain alone. */
import type { Address } from "viem";
import type { BlockRange } from "../../../lib/chain/log-scan.ts";
import type { DuePolicy } from "../../../lib/indexed/due.ts";
import { type NeverPayableReason, neverPayableReasons } from "../../../lib/keeper-audit.ts";
import { lower } from "../../../lib/lower.ts";
import { smaller } from "../../common/bigints.ts";
import { type BlockClock, type CoverChain, type Moment, readUpTo } from "../from-chain/cover-chain.ts";
import { duePolicies } from "../from-chain/due.ts";
import type { CoveredPolicy, History, Round, SoldPolicy } from "../from-chain/history.ts";
import { longestDuration, scanPolicies } from "../from-chain/read-policies.ts";
import { firstBlocks, readRounds, readSequencer } from "../from-chain/read-rounds.ts";
import { askPayout, type Payout } from "./ask-payout.ts";
import { type Downtime, judge, type Verdict } from "./replay.ts";

/** A block and its time, Unix seconds. */
export type BlockTime = { readonly block: bigint; readonly time: bigint };

/** A policy that three observations could have paid, and that was not. */
export type MissedPolicy = {
  readonly policy: CoveredPolicy;
  /** The first and the last block in which the third observation could have been made. */
  readonly first: BlockTime;
  readonly last: BlockTime;
  readonly payout: Payout;
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
  /** Missed while the service was down. */
  readonly missedWhileDown: readonly MissedPolicy[];
  /** Missed, and the buyer has code, which runs when it receives the bonds: in a block it may refuse what it takes in the audit's call. */
  readonly missedContracts: readonly MissedPolicy[];
  /** Not payable for a reason that the audit does not know, or not in the blocks that it has asked. */
  readonly refused: readonly MissedPolicy[];
  readonly neverPayable: readonly NeverPayablePolicy[];
  /** Policies that were sold in the range with unknown terms: of a product that the catalogue lacks. */
  readonly unknown: readonly SoldPolicy[];
  readonly open: number;
  /** The open policies that can be observed after the range's end, the most urgent first. */
  readonly due: readonly DuePolicy[];
};

export type AuditOptions = {
  readonly fromBlock: bigint;
  /** Undefined is the newest block. */
  readonly toBlock: bigint | undefined;
  readonly downtime?: readonly Downtime[];
  /** The keeper's wallets: a reset that they caused does not excuse a missed policy. */
  readonly wallets?: readonly Address[];
};

/** Policies that are judged at the same time: they share the headers that the clock has read. */
const CONCURRENT = 20;
/** Blocks of one piece of an audit: a week on an L2. What is read before a piece, the longest duration, is shorter. */
const PIECE = 300_000n;

/** A piece of the chain that is audited. */
type Piece = Required<Pick<AuditOptions, "downtime" | "wallets">> & {
  readonly chain: CoverChain;
  readonly history: History;
  readonly clock: BlockClock;
};

/** A policy's verdict; of a missed one with its blocks' times, and what the chain says. */
type Judged = {
  readonly policy: CoveredPolicy;
  readonly verdict: Verdict;
  readonly missed?: MissedPolicy;
  readonly isContract?: boolean;
};

/** The blocks in which somebody else than the keeper's wallets reset a policy's observations. */
async function resetsOf({ chain, wallets }: Piece, { observations }: CoveredPolicy): Promise<bigint[]> {
  const own = new Set(wallets.map(lower));
  const resets = await Promise.all(
    observations.map(async ({ count, block, txHash: hash }) => {
      if (count > 0) return [];
      if (own.size === 0) return [block];
      const { from } = await chain.clients.reads.getTransaction({ hash });
      return own.has(lower(from)) ? [] : [block];
    }),
  );
  return resets.flat();
}

async function judgeOne(piece: Piece, policy: CoveredPolicy): Promise<Judged> {
  const { chain, history, clock, downtime } = piece;
  const verdict = await judge(policy, history, clock, { resets: await resetsOf(piece, policy), downtime });
  if (verdict.is !== "missed" && verdict.is !== "missed_while_down") return { policy, verdict };
  const { first, last } = verdict.payable;
  const timed = async (block: bigint): Promise<BlockTime> => ({ block, time: await clock.timeOf(block) });
  const payout = await askPayout(chain, policy, clock, verdict.payable);
  const missed = { policy, first: await timed(first), last: await timed(last), payout };
  const isContract = (await chain.clients.reads.getCode({ address: policy.buyer })) !== undefined;
  return { policy, verdict, missed, isContract };
}

function reasonOf({ verdict, missed }: Judged): NeverPayableReason | undefined {
  if (verdict.is === "sequencer_down") return verdict.is;
  return missed?.payout.is === "unpayable" ? missed.payout.reason : undefined;
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
  { downtime = [], wallets = [] }: Pick<AuditOptions, "downtime" | "wallets">,
): Promise<Audit> {
  const { history, policies, unknown } = await readHistory(chain, range, clock);
  const judged = await judgeAll({ chain, history, clock, downtime, wallets }, policies);
  const missedOf = (is: Verdict["is"], ofContracts: boolean) =>
    judged.flatMap(({ verdict, missed, isContract }) => {
      const isPayable = missed?.payout.is === "confirmed" || missed?.payout.is === "no_state";
      return missed && verdict.is === is && isContract === ofContracts && isPayable ? [missed] : [];
    });
  const count = (is: Verdict["is"]) => judged.filter(({ verdict }) => verdict.is === is).length;
  const open = judged.flatMap(({ policy, verdict }) => (verdict.is === "open" ? [policy] : []));
  return {
    range,
    until,
    triggered: count("triggered"),
    notMet: count("not_met"),
    missed: missedOf("missed", false),
    missedWhileDown: [...missedOf("missed_while_down", false), ...missedOf("missed_while_down", true)],
    missedContracts: missedOf("missed", true),
    refused: judged.flatMap(({ missed }) =>
      missed?.payout.is === "refused" || missed?.payout.is === "undecided" ? [missed] : [],
    ),
    neverPayable: judged.flatMap((one) => {
      const reason = reasonOf(one);
      return reason ? [{ policy: one.policy, reason }] : [];
    }),
    unknown,
    open: open.length,
    due: await duePolicies(open, history, until.timestamp, clock),
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
  missedContracts: [...a.missedContracts, ...b.missedContracts],
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
  { fromBlock, toBlock, ...options }: AuditOptions,
): Promise<Audit> {
  let sum: Audit | undefined;
  const last = toBlock ?? (await chain.clients.reads.getBlockNumber());
  for (let from = fromBlock; from <= last; from += PIECE) {
    const to = smaller(from + PIECE - 1n, last);
    const piece = await readUpTo(chain, to, (until, clock) =>
      auditPiece(chain, { from, to }, until, clock, options),
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
  readonly missedContracts: number;
  readonly refused: number;
  readonly neverPayable: Readonly<Record<string, number>>;
};

/**
 * The running audit: counts the policies that ended from `fromBlock` to `toBlock`. A writer that calls it for adjacent ranges counts
 * each policy once. It reads, beside the range, the products' longest duration before it.
 * @throws as {@link audit}
 */
export async function auditClosed(
  chain: CoverChain,
  options: AuditOptions & { readonly toBlock: bigint },
): Promise<ClosedCounts> {
  const { missed, missedWhileDown, missedContracts, refused, neverPayable } = await audit(chain, options);
  const ofReason = (wanted: NeverPayableReason) =>
    neverPayable.filter(({ reason }) => reason === wanted).length;
  return {
    missed: missed.length,
    missedWhileDown: missedWhileDown.length,
    missedContracts: missedContracts.length,
    refused: refused.length,
    neverPayable: Object.fromEntries(neverPayableReasons.map((reason) => [reason, ofReason(reason)])),
  };
}

export type AuditedHistory = {
  readonly history: History;
  /** The policies that ended in the range, or are open at its end. */
  readonly policies: readonly CoveredPolicy[];
  /** Policies that were sold in the range with unknown terms: of a product that the catalogue lacks. */
  readonly unknown: readonly SoldPolicy[];
};

/**
 * Reads the policies that ended in the range (paid, replaced, or their window ended) or are open at its end, and the history by which
 * they are judged. Two adjacent ranges have each ended policy once.
 * @throws as `scanEvents`; also rejects when the node does not answer
 */
export async function readHistory(
  chain: CoverChain,
  range: BlockRange,
  clock: BlockClock,
): Promise<AuditedHistory> {
  // A window ends in the first block after its last second.
  const timeBefore = range.from === 0n ? 0n : await clock.timeOf(range.from - 1n);
  const longest = longestDuration(chain.deployment);
  const first = await firstBlocks(chain, clock, { longest, time: timeBefore, last: range.to });
  const found = await scanPolicies(chain, { from: first.policies, to: range.to });
  const isOpenBefore = ({ closing }: SoldPolicy) =>
    !closing || closing.by === "expired" || closing.block >= range.from;
  const policies = found.policies.filter((one) => one.terms.endsAt >= timeBefore && isOpenBefore(one));
  const unknown = found.unknown.filter(({ soldIn }) => soldIn >= range.from);
  const unpaid = policies.filter(({ closing }) => closing?.by !== "triggered");
  const feeds = [...new Set(unpaid.map(({ terms }) => terms.feed))];
  const read = { from: first.rounds, to: range.to, hasOldStates: true };
  const [rounds, sequencer] =
    unpaid.length === 0
      ? [new Map<Address, Round[]>(), []]
      : await Promise.all([readRounds(chain, feeds, read), readSequencer(chain, read)]);
  return { history: { lastBlock: range.to, rounds, sequencer }, policies, unknown };
}
