/** Brings purchases to a step and strikes there. */
import type { TransactionSql } from "postgres";
import { waitFor } from "../../scripts/local/wait.ts";
import { atStatement } from "../fault/support/at-statement.ts";
import { isReceiptRead, isSending } from "../fault/support/strikes.ts";
import type { World } from "../fault/support/world.ts";
import { isSimulation } from "../support/ledger.ts";
import type { RpcCall } from "../support/rpc-proxy.ts";
import type { Round, Step } from "./plan.ts";

export type Armed = {
  /** Resolves once the step was reached and the victim is dead. */
  readonly struck: Promise<void>;
  /** From now on everything goes its way. */
  readonly disarm: () => void;
};

const REACH_MS = 60_000;

/** Strikes at the first call of a kind, before the node hears of it or after. */
function atCall(
  { proxy }: World,
  { victim }: Round,
  strike: () => Promise<void>,
  isIt: (call: RpcCall) => boolean,
  when: "before" | "after",
): Armed {
  let death: Promise<void> | undefined;
  const struck = new Promise<void>((resolve, reject) => {
    proxy.intercept(async (call, forward) => {
      if (!isIt(call)) return forward();
      const answer = when === "after" ? await forward() : undefined;
      if (!death) {
        death = strike();
        death.then(resolve, reject);
      }
      await death;
      // Nobody sends on behalf of the dead.
      if (victim === "writer") return "lost";
      return answer ?? forward();
    });
  });
  return { struck, disarm: () => proxy.intercept() };
}

/** Strikes as soon as one of the round's purchases is written down. */
function atSettlement({ connection }: World, round: Round, strike: () => Promise<void>): Armed {
  const keys = round.purchases.map(({ key }) => key);
  const settled = waitFor({
    what: "a purchase to be settled",
    probe: async () => {
      const rows = await connection.sql`
        select 1 from service.purchase where idempotency_key = any(${keys}::text[]) and block_number is not null limit 1`;
      return rows.length > 0 ? true : undefined;
    },
    timeoutMs: REACH_MS,
    intervalMs: 3,
  });
  return { struck: settled.then(strike), disarm: () => {} };
}

/** Lies in wait at the round's step; call it before the purchases are asked for. */
export async function arm(world: World, round: Round, strike: () => Promise<void>): Promise<Armed> {
  const whileLocked = async (lock: (tx: TransactionSql) => Promise<unknown>, statement: string) => ({
    ...(await atStatement(world.connection.sql, { lock, statement, strike })),
    disarm: () => {},
  });
  const at: Record<Step, () => Armed | Promise<Armed>> = {
    accepted: () => atCall(world, round, strike, isSimulation, "before"),
    "nonce taken": () =>
      whileLocked(
        (tx) => tx`select 1 from service.relayer_wallet for update`,
        "update service.relayer_wallet set next_nonce",
      ),
    signed: () =>
      whileLocked(
        (tx) => tx`lock table service.transaction in share mode`,
        "insert into service.transaction",
      ),
    stored: () => atCall(world, round, strike, isSending, "before"),
    broadcast: () => atCall(world, round, strike, isSending, "after"),
    mined: () => atCall(world, round, strike, isReceiptRead, "before"),
    settled: () => atSettlement(world, round, strike),
  };
  return at[round.step]();
}
