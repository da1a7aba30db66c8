/** Compares this machine's clock with Postgres' and the chain's. */
import { duration } from "../ledger/format.ts";
import type { ReachedChain } from "./chain.ts";
import { type Finding, findingsOf } from "./finding.ts";

/** Seconds between the clocks of two machines that are synchronised. */
const MAX_OFFSET = 2;
/** The most seconds that a block's time may be ahead of true time. */
const MAX_AHEAD = 15;
/** The newest block of a chain that makes blocks is not older than this, in seconds. */
const MAX_AGE = 60;

const { ok, fault } = findingsOf("clock");

const SYNCHRONISE = "synchronise the clocks of both machines (chrony, systemd-timesyncd)";

/** `offset` is Postgres' clock minus this machine's, in seconds. */
export function examineDatabaseClock(offset: number): Finding {
  return Math.abs(offset) <= MAX_OFFSET
    ? ok("this machine's clock and Postgres' agree")
    : fault(
        `Postgres' clock is ${duration(Math.abs(offset))} ${offset > 0 ? "ahead of" : "behind"} this machine's`,
        SYNCHRONISE,
      );
}

/** What the check needs of a {@link ReachedChain}. */
type Head = Pick<ReachedChain, "local" | "prefix"> & {
  readonly head: Pick<ReachedChain["head"], "timestamp">;
  readonly deployment: Pick<ReachedChain["deployment"], "chainId">;
};

/** `now` in Unix seconds. A local chain makes blocks at whatever times its developer likes. */
export function examineChainClock({ head, local, prefix, deployment }: Head, now: number): Finding[] {
  if (local) return [];
  const age = now - Number(head.timestamp);
  if (age < -MAX_AHEAD) {
    const text = `the newest block of chain ${deployment.chainId} is ${duration(-age)} in the future: this machine's clock is slow`;
    return [fault(text, SYNCHRONISE)];
  }
  if (age > MAX_AGE) {
    return [
      fault(
        `the newest block of chain ${deployment.chainId} is ${duration(age)} old: the node is behind, or this machine's clock is fast`,
        `wait until the node of ${prefix}RPC_URL has caught up, or synchronise the clock`,
      ),
    ];
  }
  return [ok(`the newest block of chain ${deployment.chainId} is ${duration(Math.max(0, age))} old`)];
}
