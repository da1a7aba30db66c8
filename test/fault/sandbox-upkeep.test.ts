/**
 * The sandbox's wallet loses everything, and the writer dies (SIGKILL) over providing for it. What this proves, counted on
 * the chain: it is given ether, USDC and approval once each, and buys again.
 */
import {
  type Address,
  encodeAbiParameters,
  erc20Abi,
  isAddressEqual,
  keccak256,
  toHex,
  zeroAddress,
} from "viem";
import { beforeAll, expect, test } from "vitest";
import {
  expectBoughtOnce,
  nextBlock,
  sandboxReady,
  sandboxWallet,
  severalCalls,
  tryOnce,
  tryPatiently,
} from "./support/sandbox-truth.ts";
import { isSending, killAtCall, revive } from "./support/strikes.ts";
import { atRest, startTestnetWorld, type TestnetWorld } from "./support/testnet-world.ts";

let world: TestnetWorld;
beforeAll(async () => {
  world = await startTestnetWorld({ parts: "sandbox" });
  await sandboxReady(world);
});

const slotOf = (address: Address, slot: bigint | `0x${string}`) =>
  keccak256(
    typeof slot === "bigint"
      ? encodeAbiParameters([{ type: "address" }, { type: "uint256" }], [address, slot])
      : encodeAbiParameters([{ type: "address" }, { type: "bytes32" }], [address, slot]),
  );

/** Takes all that the wallet has, without a transaction of anybody's. */
async function rob(): Promise<void> {
  const { client, deployment } = world.testnet;
  const { usdc: token, coverRouter } = deployment.contracts;
  const value = toHex(0, { size: 32 });
  // Where OpenZeppelin's ERC20 keeps balances and allowances.
  const allowances = slotOf(sandboxWallet, 1n);
  await client.setStorageAt({ address: token, index: slotOf(sandboxWallet, 0n), value });
  await client.setStorageAt({ address: token, index: slotOf(coverRouter, allowances), value });
  await client.setBalance({ address: sandboxWallet, value: 0n });
  const of = { address: token, abi: erc20Abi } as const;
  const left = await Promise.all([
    client.readContract({ ...of, functionName: "balanceOf", args: [sandboxWallet] }),
    client.readContract({ ...of, functionName: "allowance", args: [sandboxWallet, coverRouter] }),
  ]);
  expect(left).toEqual([0n, 0n]);
}

/** How often the wallet was given what it needs since a block. */
async function providedSince(fromBlock: bigint) {
  const { client, deployment } = world.testnet;
  const of = { address: deployment.contracts.usdc, fromBlock, strict: true } as const;
  const event = (name: "Transfer" | "Approval") => {
    const found = erc20Abi.find((item) => item.type === "event" && item.name === name);
    if (found?.type !== "event") throw new Error(`no event ${name}`);
    return found;
  };
  const [mintings, approvals, head] = await Promise.all([
    client.getLogs({ ...of, event: event("Transfer"), args: { from: zeroAddress, to: sandboxWallet } }),
    client.getLogs({ ...of, event: event("Approval"), args: { owner: sandboxWallet } }),
    client.getBlockNumber(),
  ]);
  let gifts = 0;
  for (let blockNumber = fromBlock; blockNumber <= head; blockNumber += 1n) {
    const { transactions } = await client.getBlock({ blockNumber, includeTransactions: true });
    gifts += transactions.filter(
      ({ to, value }) => to && isAddressEqual(to, sandboxWallet) && value > 0n,
    ).length;
  }
  return { gifts, mintings: mintings.length, approvals: approvals.length };
}

test.each([
  { name: "after the first sending", when: "after", nth: 1 },
  { name: "before the second", when: "before", nth: 2 },
  { name: "before the third", when: "before", nth: 3 },
] as const)("killed $name", async ({ when, nth }) => {
  const fromBlock = await nextBlock(world);
  const { dead } = killAtCall(world, isSending, when, nth);
  await rob();
  await dead;
  const [call] = severalCalls(1);
  if (!call) throw new Error("no call");
  const refused = await tryOnce(world, call);
  expect(refused.status).toBe(503);
  await revive(world);
  const bought = await tryPatiently(world, call);
  await expectBoughtOnce(world, [bought], fromBlock);
  await atRest(world);
  expect(await providedSince(fromBlock)).toEqual({ gifts: 1, mintings: 1, approvals: 1 });
});
