import {
  askRpc,
  type Forward,
  type Interceptor,
  type RpcAnswer,
  type RpcCall,
} from "../../support/rpc-proxy.ts";

/** Where the parameters of each method name a block. */
const blockAt: Readonly<Record<string, number>> = {
  eth_call: 1,
  eth_estimateGas: 1,
  eth_getBalance: 1,
  eth_getCode: 1,
  eth_getTransactionCount: 1,
  eth_getBlockByNumber: 0,
  eth_getBlockReceipts: 0,
};
/** These answer null for a block that the node does not have; the others say that they do not have it. */
const answersNull = (method: string) => method.startsWith("eth_getBlock");

function receiptBlock(answer: RpcAnswer): number {
  const receipt = "result" in answer ? answer.result : null;
  const known = typeof receipt === "object" && receipt !== null && "blockNumber" in receipt;
  return known ? Number(receipt.blockNumber) : 0;
}

/** What a node says whose newest block is `newest`. */
async function answerAsOf(newest: number, call: RpcCall, forward: Forward): Promise<RpcAnswer> {
  const { method, params } = call;
  if (method === "eth_blockNumber") return { result: `0x${newest.toString(16)}` };
  if (method === "eth_getTransactionReceipt") {
    const answer = await forward();
    return receiptBlock(answer) > newest ? { result: null } : answer;
  }
  const index = blockAt[method];
  if (index === undefined) return forward();
  const block = params[index];
  if (typeof block === "string" && block.startsWith("0x")) {
    if (Number(block) <= newest) return forward();
    return answersNull(method) ? { result: null } : { error: { code: -32000, message: "header not found" } };
  }
  return forward({ method, params: params.toSpliced(index, 1, `0x${newest.toString(16)}`) });
}

/**
 * Two nodes behind one URL that take requests in turn: one is at the head, the other `behind` blocks behind it, and
 * knows of no block, receipt or nonce after its own newest block. Transactions reach both.
 */
export function staleEverySecondTime(chainUrl: string, behind: number): Interceptor {
  const newest = new Map<number, Promise<number>>();

  async function askNewest(): Promise<number> {
    const answer = await askRpc(chainUrl, "eth_blockNumber");
    return Math.max(0, Number("result" in answer ? answer.result : 0) - behind);
  }

  return async function intercept(call, forward, request) {
    if (request % 2 === 0) return forward();
    // All calls of a request meet the same node.
    const known = newest.get(request) ?? askNewest();
    newest.set(request, known);
    return answerAsOf(await known, call, forward);
  };
}
