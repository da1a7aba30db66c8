/**
 * The sandbox's wallet loses its funds, and the writer is killed (SIGKILL) while it refills the wallet. What this proves,
 * checked on the chain: the wallet gets ether, USDC and approval once each, and buys again.
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
  sandboxWallet,
  severalCalls,
  tryOnce,
  tryUntilBought,
  waitUntilSandboxReady,
} from "./support/sandbox-calls.ts";
import { sendingAgainAtOnce } from "./support/send-again.ts";
import { isSending, killAtCall, restartWriter } from "./support/testnet-faults.ts";
import { mineUntilFinal, startTestnetSetup, type TestnetSetup } from "./support/testnet-setup.ts";

let setup: TestnetSetup;
beforeAll(async () => {
  setup = await startTestnetSetup({ parts: "sandbox" });
  await waitUntilSandboxReady(setup);
});

const slotOf = (address: Address, slot: bigint | `0x${string}`) =>
  keccak256(
    typeof slot === "bigint"
      ? encodeAbiParameters([{ type: "address" }, { type: "uint256" }], [address, slot])
      : encodeAbiParameters([{ type: "address" }, { type: "bytes32" }], [address, slot]),
  );

/** Sets the wallet's ether, USDC and allowance to 0 without a transaction. */
async function emptyWallet(): Promise<void> {
  const { client, deployment } = setup.testnet;
  const { usdc: token, coverRouter } = deployment.contracts;
  const value = toHex(0, { size: 32 });
  // Storage slots of OpenZeppelin's ERC20: 0 for balances, 1 for allowances.
  const allowances = slotOf(sandboxWallet, 1n);
  // Ether first: with some left, a writer that looks meanwhile would approve without a refill.
  await client.setBalance({ address: sandboxWallet, value: 0n });
  await client.setStorageAt({ address: token, index: slotOf(sandboxWallet, 0n), value });
  await client.setStorageAt({ address: token, index: slotOf(coverRouter, allowances), value });
  const of = { address: token, abi: erc20Abi } as const;
  const left = await Promise.all([
    client.readContract({ ...of, functionName: "balanceOf", args: [sandboxWallet] }),
    client.readContract({ ...of, functionName: "allowance", args: [sandboxWallet, coverRouter] }),
  ]);
  expect(left).toEqual([0n, 0n]);
}

/** Counts the wallet's refills since a block. */
async function countRefills(fromBlock: bigint) {
  const { client, deployment } = setup.testnet;
  const of = { address: deployment.contracts.usdc, fromBlock, strict: true } as const;
  const event = (name: "Transfer" | "Approval") => {
    const found = erc20Abi.find((item) => item.type === "event" && item.name === name);
    if (found?.type !== "event") throw new Error(`no event ${name}`);
    return found;
  };
  const [mints, approvals, head] = await Promise.all([
    client.getLogs({ ...of, event: event("Transfer"), args: { from: zeroAddress, to: sandboxWallet } }),
    client.getLogs({ ...of, event: event("Approval"), args: { owner: sandboxWallet } }),
    client.getBlockNumber(),
  ]);
  let etherTransfers = 0;
  for (let blockNumber = fromBlock; blockNumber <= head; blockNumber += 1n) {
    const { transactions } = await client.getBlock({ blockNumber, includeTransactions: true });
    etherTransfers += transactions.filter(
      ({ to, value }) => to && isAddressEqual(to, sandboxWallet) && value > 0n,
    ).length;
  }
  return { etherTransfers, mints: mints.length, approvals: approvals.length };
}

test.each([
  ["after", "first", 1],
  ["before", "third", 3],
] as const)("the writer is killed %s the %s broadcast: each refill happens once", async (when, _, nth) => {
  const fromBlock = await nextBlock(setup);
  const { dead } = killAtCall(setup, isSending, when, nth);
  await emptyWallet();
  await dead;
  const [call] = severalCalls(1);
  if (!call) throw new Error("no call");
  const refused = await tryOnce(setup, call);
  expect(refused.status).toBe(503);
  await restartWriter(setup);
  const bought = await sendingAgainAtOnce(setup.connection.sql, tryUntilBought(setup, call));
  await expectBoughtOnce(setup, [bought], fromBlock);
  await mineUntilFinal(setup);
  expect(await countRefills(fromBlock)).toEqual({ etherTransfers: 1, mints: 1, approvals: 1 });
});
