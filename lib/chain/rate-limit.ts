import { BaseError, HttpRequestError, RpcRequestError } from "viem";

/** JSON-RPC codes for too many requests; -32016 is that of Base's public node. */
const RATE_CODES: readonly number[] = [429, -32007, -32016];

/** A JSON-RPC code for too many requests, or for too many logs. */
export const LIMIT_EXCEEDED = -32005;

/** Whether the code of an error without an id means too many requests: an error for too many logs would have its call's id. */
export const limitsRequests = (code: number | undefined): boolean =>
  code !== undefined && (code === LIMIT_EXCEEDED || RATE_CODES.includes(code));

/** True when the node limits the rate of requests: the same request is answered later. */
export function isRateLimit(error: unknown): boolean {
  if (!(error instanceof BaseError)) return false;
  const limited = error.walk(
    (cause) =>
      (cause instanceof HttpRequestError && cause.status === 429) ||
      (cause instanceof RpcRequestError && RATE_CODES.includes(cause.code)),
  );
  return limited !== null;
}
