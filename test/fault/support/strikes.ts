/** Faults at a step of the writer's work on the testnet: sendings that go wrong, and its death (SIGKILL). */
import type { TransactionSql } from "postgres";
import type { Interceptor, RpcAnswer, RpcCall } from "../../support/rpc-proxy.ts";
import { atStatement } from "./at-statement.ts";
import type { TestnetWorld } from "./testnet-world.ts";

export const isSending = ({ method }: RpcCall): boolean => method === "eth_sendRawTransaction";
export const isReceiptRead = ({ method }: RpcCall): boolean =>
  method === "eth_getBlockReceipts" || method === "eth_getTransactionReceipt";

/** Does something else with the first sending of each transaction. */
export function atFirst(fate: Interceptor): Interceptor {
  const seen = new Set<unknown>();
  return async (call, forward, request) => {
    if (!isSending(call) || seen.has(call.params[0])) return forward();
    seen.add(call.params[0]);
    return fate(call, forward, request);
  };
}

export const says = (message: string): RpcAnswer => ({ error: { code: -32000, message } });

export type Strike = {
  /** Resolves once the step was reached and the writer is dead. */
  readonly dead: Promise<void>;
};

/** At the `nth` call of a kind: before the node hears of it, or after. Those before go their way, and none after. */
export function killAtCall(
  { proxy, stack }: TestnetWorld,
  isIt: (call: RpcCall) => boolean,
  when: "before" | "after",
  nth = 1,
): Strike {
  let kill: () => void = () => {};
  const dead = new Promise<void>((resolve) => {
    kill = () => resolve(stack.kill9("writer"));
  });
  let calls = 0;
  let killing = false;
  proxy.intercept(async (call, forward) => {
    if (killing) return "lost"; // nobody speaks for the dead
    if (!isIt(call)) return forward();
    calls += 1;
    if (calls < nth) return forward();
    killing = true;
    if (when === "after") await forward();
    kill();
    await dead;
    return "lost";
  });
  return { dead };
}

/** While a statement of the writer waits for a lock that is held here, so that its transaction comes to nothing. */
export async function killAtStatement(
  { connection, stack }: TestnetWorld,
  lock: (tx: TransactionSql) => Promise<unknown>,
  statement: string,
): Promise<Strike> {
  const strike = () => stack.kill9("writer");
  const { struck } = await atStatement(connection.sql, { lock, statement, strike });
  return { dead: struck };
}

/** The node answers again, and the writer is back; it need not wait until the dead one's leases lapse. */
export async function revive({ proxy, stack, connection }: TestnetWorld): Promise<void> {
  proxy.intercept();
  await connection.sql`update service.relayer_wallet set lease_until = now()`;
  await stack.start("writer");
}
