import type { LogEvent } from "./event.ts";

/**
 * What projections remember of the newest transaction from one of its logs to the next; call it once for each log. It needs no
 * table, because Ponder never begins in the middle of a block: after a failure it gives a block's logs again from the first. So a
 * log that is not later than the last one begins the transaction anew.
 */
export function perTransaction<Memory>(empty: () => Memory): (event: LogEvent) => Memory {
  let newest:
    | { readonly blockHash: string; readonly txHash: string; logIndex: number; memory: Memory }
    | undefined;
  return ({ block, transaction, log: { logIndex } }) => {
    const { hash: blockHash } = block;
    const { hash: txHash } = transaction;
    if (newest?.txHash !== txHash || newest.blockHash !== blockHash || newest.logIndex >= logIndex) {
      newest = { blockHash, txHash, logIndex, memory: empty() };
    }
    newest.logIndex = logIndex;
    return newest.memory;
  };
}
