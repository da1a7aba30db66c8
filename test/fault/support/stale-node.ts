import {
  askRpc,
  type Forward,
  type Interceptor,
  type RpcAnswer,
  type RpcCall,
} from "../../support/rpc-proxy.ts";

/** Index of the block parameter of each method. */
const blockParameter: Readonly<Record<string, number>> = {
  eth_call: 1,
  eth_estimateGas: 1,
  eth_simulateV1: 1,
  eth_getBalance: 1,
  eth_getCode: 1,
  eth_getTransactionCount: 1,
  eth_getBlockByNumber: 0,
  eth_getBlockReceipts: 0,
};
/** These methods answer null for an unknown block; the others answer with an error. */
const answersNull = (method: string) => method.startsWith("eth_getBlock");

function receiptBlock(answer: RpcAnswer): number {
  const receipt = "result" in answer ? answer.result : null;
  const known = typeof receipt === "object" && receipt !== null && "blockNumber" in receipt;
  return known ? Number(receipt.blockNumber) : 0;
}

/** The answer of a node that has no block after `newest`. */
async function answerAsOf(newest: number, call: RpcCall, forward: Forward): Promise<RpcAnswer> {
  const { method, params } = call;
  if (method === "eth_blockNumber") return { result: `0x${newest.toString(16)}` };
  if (method === "eth_getTransactionReceipt") {
    const answer = await forward();
    return receiptBlock(answer) > newest ? { result: null } : answer;
  }
  const index = blockParameter[method];
  if (index === undefined) return forward();
  const block = params[index];
  if (typeof block === "string" && block.startsWith("0x")) {
    if (Number(block) <= newest) return forward();
    return answersNull(method) ? { result: null } : { error: { code: -32000, message: "header not found" } };
  }
  return forward({ method, params: params.toSpliced(index, 1, `0x${newest.toString(16)}`) });
}

/** A node that has not read any block after `newest`. Transactions reach the chain. */
export const nodeAsOf =
  (newest: bigint): Interceptor =>
  (call, forward) =>
    answerAsOf(Number(newest), call, forward);

/**
 * Two nodes behind one URL that answer requests in turn: one is at the head, the other is `behind` blocks behind and
 * knows no later block, receipt or nonce. Transactions reach both.
 */
export function alternateWithStaleNode(chainUrl: string, behind: number): Interceptor {
  const newest = new Map<number, Promise<number>>();

  async function readNewest(): Promise<number> {
    const answer = await askRpc(chainUrl, "eth_blockNumber");
    return Math.max(0, Number("result" in answer ? answer.result : 0) - behind);
  }

  return async function intercept(call, forward, request) {
    if (request % 2 === 0) return forward();
    // One node answers all calls of a request.
    const known = newest.get(request) ?? readNewest();
    newest.set(request, known);
    return answerAsOf(await known, call, forward);
  };
}
