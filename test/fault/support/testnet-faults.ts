/** Faults at one step of the writer: failed broadcasts, and SIGKILL. */
import type { TransactionSql } from "postgres";
import type { Interceptor, RpcAnswer, RpcCall } from "../../support/rpc-proxy.ts";
import type { TestnetSetup } from "./testnet-setup.ts";
import { whileStatementWaits } from "./while-statement-waits.ts";

export const isSending = ({ method }: RpcCall): boolean => method === "eth_sendRawTransaction";
export const isReceiptRead = ({ method }: RpcCall): boolean =>
  method === "eth_getBlockReceipts" || method === "eth_getTransactionReceipt";

/** Intercepts the first broadcast of each transaction, and forwards all other calls. */
export function onFirstSending(intercept: Interceptor): Interceptor {
  const seen = new Set<unknown>();
  return async (call, forward, request) => {
    if (!isSending(call) || seen.has(call.params[0])) return forward();
    seen.add(call.params[0]);
    return intercept(call, forward, request);
  };
}

/** A JSON-RPC error of the node. */
export const rpcError = (message: string): RpcAnswer => ({ error: { code: -32000, message } });

export type WriterKill = {
  /** Resolves when the step was reached and the writer is dead. */
  readonly dead: Promise<void>;
};

/** Kills the writer at the `nth` matching call to the node, before or after forwarding it. Later calls are lost. */
export function killAtCall(
  { proxy, stack }: Pick<TestnetSetup, "proxy" | "stack">,
  isIt: (call: RpcCall) => boolean,
  when: "before" | "after",
  nth = 1,
): WriterKill {
  let kill: () => void = () => {};
  const dead = new Promise<void>((resolve) => {
    kill = () => resolve(stack.kill9("writer"));
  });
  let calls = 0;
  let killing = false;
  proxy.intercept(async (call, forward) => {
    if (killing) return "lost"; // the caller is dead
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

/** Kills the writer while its statement waits for a lock of the test, so that its transaction is rolled back. */
export async function killAtStatement(
  { connection, stack }: Pick<TestnetSetup, "connection" | "stack">,
  lock: (tx: TransactionSql) => Promise<unknown>,
  statement: string,
): Promise<WriterKill> {
  const act = () => stack.kill9("writer");
  const { acted } = await whileStatementWaits(connection.sql, { lock, statement, act });
  return { dead: acted };
}

/** Restores the node, ends the dead writer's leases, and starts a new writer. */
export async function restartWriter({
  proxy,
  stack,
  connection,
}: Pick<TestnetSetup, "proxy" | "stack" | "connection">): Promise<void> {
  proxy.intercept();
  await connection.sql`update service.relayer_wallet set lease_until = now()`;
  await stack.start("writer");
}
