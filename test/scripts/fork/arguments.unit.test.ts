import { expect, test } from "vitest";
import { parseForkArguments } from "../../../scripts/fork/arguments.ts";

test("takes a node, a block and a deployment file; the newest block and Base's file when left out", () => {
  expect(parseForkArguments(["--rpc", "https://node.example/key"])).toEqual({
    rpcUrl: "https://node.example/key",
    block: undefined,
    deploymentFile: expect.stringMatching(/deployments\/base\.json$/),
  });
  const all = ["--rpc", "http://127.0.0.1:1", "--block", "47000000", "--deployment", "mine.json"];
  expect(parseForkArguments(all)).toEqual({
    rpcUrl: "http://127.0.0.1:1",
    block: 47_000_000n,
    deploymentFile: "mine.json",
  });
});

test.for([
  [[], /--rpc is missing/],
  [["--rpc", "ws://127.0.0.1:1"], /--rpc is no http or https URL/],
  [["--rpc", "no", "--block", "latest"], /--rpc is no http.*--block latest is no block number/s],
  [["--rpc", "http://127.0.0.1:1", "--fork"], /Unknown option '--fork'/],
] as const)("%j is refused, with the usage", ([args, fault]) => {
  expect(() => parseForkArguments(args)).toThrow(fault);
  expect(() => parseForkArguments(args)).toThrow(/npm run fork -- --rpc <url>/);
});
