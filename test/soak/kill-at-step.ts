/** Kills a process when a purchase reaches a step. */
import type { TransactionSql } from "postgres";
import { waitFor } from "../../scripts/local/wait.ts";
import type { PurchaseSetup } from "../fault/support/purchase-setup.ts";
import { isReceiptRead, isSending } from "../fault/support/testnet-faults.ts";
import { whileStatementWaits } from "../fault/support/while-statement-waits.ts";
import { isSimulation } from "../support/ledger.ts";
import type { RpcCall } from "../support/rpc-proxy.ts";
import type { Round, Step } from "./plan-rounds.ts";

export type PendingKill = {
  /** Resolves once a purchase has reached the step and the process is dead. */
  readonly killed: Promise<void>;
  /** Lets all calls through again. */
  readonly release: () => void;
};

type Kill = () => Promise<void>;

/** Kills at the first matching call, before or after the node receives it. */
function killAtCall(
  { proxy }: PurchaseSetup,
  { victim }: Round,
  kill: Kill,
  matches: (call: RpcCall) => boolean,
  when: "before" | "after",
): PendingKill {
  let death: Promise<void> | undefined;
  const killed = new Promise<void>((resolve, reject) => {
    proxy.intercept(async (call, forward) => {
      if (!matches(call)) return forward();
      const answer = when === "after" ? await forward() : undefined;
      if (!death) {
        death = kill();
        death.then(resolve, reject);
      }
      await death;
      // A killed writer sends nothing more.
      if (victim === "writer") return "lost";
      return answer ?? forward();
    });
  });
  return { killed, release: () => proxy.intercept() };
}

/** Kills as soon as one of the round's purchases is settled in the ledger. */
function killAtSettlement({ connection }: PurchaseSetup, round: Round, kill: Kill): PendingKill {
  const keys = round.purchases.map(({ key }) => key);
  const settled = waitFor({
    what: "a purchase to be settled",
    probe: async () => {
      const rows = await connection.sql`
        select 1 from service.purchase_progress where idempotency_key = any(${keys}::text[]) and block_number is not null limit 1`;
      return rows.length > 0 ? true : undefined;
    },
    intervalMs: 3,
  });
  return { killed: settled.then(kill), release: () => {} };
}

/**
 * Kills while a statement of the writer waits for a lock. The lock is taken when a purchase is simulated: were it taken
 * before the calls begin, a slow machine could let the wallets' leases lapse meanwhile, and nothing would be signed.
 */
function killAtStatement(
  { proxy, connection }: PurchaseSetup,
  kill: Kill,
  { lock, statement }: { lock: (tx: TransactionSql) => Promise<unknown>; statement: string },
): PendingKill {
  let locked: Promise<unknown> | undefined;
  const killed = new Promise<void>((resolve, reject) => {
    const takeLock = async () => {
      const { acted } = await whileStatementWaits(connection.sql, { lock, statement, act: kill });
      acted.then(resolve, reject);
    };
    proxy.intercept(async (call, forward) => {
      if (!isSimulation(call)) return forward();
      locked ??= takeLock().catch(reject);
      await locked;
      return forward();
    });
  });
  return { killed, release: () => proxy.intercept() };
}

/** Prepares the kill at the round's step; call it before the purchases begin. */
export function prepareKill(setup: PurchaseSetup, round: Round, kill: Kill): PendingKill {
  const atStep: Record<Step, () => PendingKill> = {
    accepted: () => killAtCall(setup, round, kill, isSimulation, "before"),
    "nonce taken": () =>
      killAtStatement(setup, kill, {
        lock: (tx) => tx`lock table service.transaction in share mode`,
        statement: "insert into service.transaction",
      }),
    signed: () =>
      killAtStatement(setup, kill, {
        lock: (tx) => tx`lock table service.attempt in share mode`,
        statement: "insert into service.attempt",
      }),
    stored: () => killAtCall(setup, round, kill, isSending, "before"),
    broadcast: () => killAtCall(setup, round, kill, isSending, "after"),
    mined: () => killAtCall(setup, round, kill, isReceiptRead, "before"),
    settled: () => killAtSettlement(setup, round, kill),
  };
  return atStep[round.step]();
}
