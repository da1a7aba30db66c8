/** Holds calls of the writer to its node. */
import { waitFor } from "../../../scripts/local/wait.ts";
import type { RpcCall, RpcProxy } from "../../support/rpc-proxy.ts";

export type HeldCalls = {
  /** Resolves once a matching call waits. */
  readonly reached: () => Promise<unknown>;
  /** Forwards what waits, and all later calls. */
  readonly release: () => void;
};

/** Lets matching calls wait until `release`, and forwards all others. */
export function holdCalls(
  { intercept }: Pick<RpcProxy, "intercept">,
  matches: (call: RpcCall) => boolean,
): HeldCalls {
  let held = false;
  let free: () => void = () => {};
  const freed = new Promise<void>((resolve) => {
    free = resolve;
  });
  intercept(async (call, forward) => {
    if (!matches(call)) return forward();
    held = true;
    await freed;
    return forward();
  });
  return {
    reached: () =>
      waitFor({
        what: "the writer to make the call",
        probe: () => held || undefined,
        intervalMs: 10,
      }),
    release() {
      intercept();
      free();
    },
  };
}
