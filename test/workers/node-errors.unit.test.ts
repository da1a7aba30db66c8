import { BaseError, RpcRequestError } from "viem";
import { describe, expect, test } from "vitest";
import { broadcastResultOf } from "../../workers/relayer/send-round.ts";

describe("the result of a broadcast, by the node's error", () => {
  const refused = (message: string) =>
    new BaseError("An error occurred.", {
      cause: new RpcRequestError({ body: {}, url: "http://node", error: { code: -32000, message } }),
    });
  test.each([
    [refused("already known"), "accepted"],
    [refused("ALREADY_EXISTS: already known"), "accepted"],
    [refused("transaction already imported"), "accepted"],
    [refused("nonce too low: next nonce 5, tx nonce 4"), "unknown"],
    [refused("replacement transaction underpriced"), "refused"],
    [refused("insufficient funds for gas * price + value"), "refused"],
    [refused("max fee per gas less than block base fee"), "refused"],
    [refused("something new"), "unknown"],
    [new Error("fetch failed"), "unknown"],
    [new Error("fetch failed", { cause: new Error("already known") }), "accepted"],
    ["not an error", "unknown"],
  ])("%s", (error, kind) => {
    expect(broadcastResultOf(error).kind).toBe(kind);
  });
});
