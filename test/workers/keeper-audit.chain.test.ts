/** The audit of a real chain: one policy of each fate, and the audit says exactly that. The chain confirms what was missed. */
import { concat, getAbiItem, type Hex, hexToBigInt, isHex, toFunctionSelector, zeroHash } from "viem";
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import { shieldAdapterAbi } from "../../abis/ShieldAdapter.ts";
import { openProtocol } from "../../scripts/local/protocol/actions/index.ts";
import { type Audit, audit, auditClosed } from "../../workers/keeper/audit/audit.ts";
import { type CoverChain, openCoverChain } from "../../workers/keeper/from-chain/cover-chain.ts";
import { dueFromChain } from "../../workers/keeper/from-chain/due.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { hour, livePolicies, type PolicyFates } from "../support/policy-fates.ts";
import * as act from "../support/protocol-actions.ts";
import { type RpcAnswer, type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";

let chain: TestChain;
let rpc: RpcProxy;
let cover: CoverChain;
let fates: PolicyFates;

beforeAll(async () => {
  chain = await startChain({ retired: false, timestamp: 1_900_000_000n });
  rpc = await startRpcProxy(chain.url);
  cover = openCoverChain(chain.deployment, rpc.url);
  fates = await livePolicies(chain);
});

const auditAll = (chainOf: CoverChain = cover, fromBlock = 0n): Promise<Audit> =>
  audit(chainOf, { fromBlock, toBlock: fates.lastBlock, downtime: [fates.downtime] });

/** The fates that the audit names, each with the id of its policy. */
const named = (policies: readonly { policyId: bigint }[]) =>
  policies.map(({ policyId }) => [...fates.ids].find(([, id]) => id === policyId)?.[0]).sort();

test("each policy has the verdict that it deserves", async () => {
  const found = await auditAll();
  expect(named(found.missed.map(({ policy }) => policy))).toEqual(["marked", "missed", "paused", "phased"]);
  expect(named(found.missedWhileDown.map(({ policy }) => policy))).toEqual(["down"]);
  expect(
    Object.fromEntries(found.neverPayable.map(({ policy, reason }) => [named([policy])[0], reason])),
  ).toEqual({
    sequencer_down: "sequencer_down",
    last_block: "last_block",
  });
  const { triggered, notMet, open } = found;
  expect({ triggered, notMet, open }).toEqual({ triggered: 1, notMet: 1, open: 2 });
  expect(named(found.due)).toEqual(["due"]);
  expect(found.unknown).toEqual([]);
});

test("what was missed was payable in exactly these blocks, and the chain confirms it", async () => {
  const { missed, missedWhileDown } = await auditAll();
  for (const { policy, first, last, confirmation } of [...missed, ...missedWhileDown]) {
    const fate = named([policy])[0] ?? "";
    expect({ first: first.block, last: last.block }, fate).toEqual(fates.payable.get(fate));
    expect(confirmation).toEqual({ is: "confirmed", block: first.block });
    expect(last.time).toBe(policy.terms.endsAt);
    expect(policy.buyer).toBe(chain.owner.address);
  }
});

test("the audits of adjacent ranges add up, and so do the counts of the running audit", async () => {
  const sum = {
    triggered: 0,
    notMet: 0,
    missed: 0,
    missedWhileDown: 0,
    refused: 0,
    neverPayable: 0,
  };
  for (let fromBlock = 0n; fromBlock <= fates.lastBlock; fromBlock += 31n) {
    const toBlock = fromBlock + 30n < fates.lastBlock ? fromBlock + 30n : fates.lastBlock;
    const part = await audit(cover, { fromBlock, toBlock, downtime: [fates.downtime] });
    for (const count of ["triggered", "notMet"] as const) sum[count] += part[count];
    for (const list of ["missed", "missedWhileDown", "refused", "neverPayable"] as const)
      sum[list] += part[list].length;
  }
  const lists = { missed: 4, missedWhileDown: 1, refused: 1, neverPayable: 2 };
  expect(sum).toEqual({ triggered: 1, notMet: 1, ...lists });
  const options = { fromBlock: 0n, toBlock: fates.lastBlock, downtime: [fates.downtime] };
  const neverPayable = { sequencer_down: 1, last_block: 1 };
  expect(await auditClosed(cover, options)).toMatchObject({ ...lists, neverPayable });
});

const withoutStates = (isMissing: (block: bigint) => boolean) =>
  rpc.intercept(async (call, forward) => {
    const at = call.params[1];
    const isOld = call.method === "eth_call" && isHex(at) && isMissing(hexToBigInt(at));
    return isOld ? { error: { code: -32000, message: "missing trie node" } } : forward();
  });

test("a node without old states: the same verdicts, and nothing is confirmed", async () => {
  withoutStates((block) => block < fates.lastBlock);
  try {
    const warnings: string[] = [];
    const unaided = openCoverChain(chain.deployment, rpc.url, { warn: (text) => warnings.push(text) });
    const found = await auditAll(unaided);
    // Without the chain's answer nobody knows that one buyer refuses bonds.
    const missed = ["marked", "missed", "paused", "phased", "refused"];
    expect(named(found.missed.map(({ policy }) => policy))).toEqual(missed);
    expect(new Set(found.missed.map(({ confirmation }) => confirmation.is))).toEqual(new Set(["no_state"]));
    const reasons = ["last_block", "sequencer_down"];
    expect(found.neverPayable.map(({ reason }) => reason).sort()).toEqual(reasons);
    expect(warnings).toEqual([]);
    expect((await dueFromChain(unaided)).policies).toHaveLength(1);
  } finally {
    rpc.intercept();
  }
});

test("a node without the state of the first payable block confirms with that of the last one", async () => {
  const { last = 0n } = fates.payable.get("missed") ?? {};
  withoutStates((block) => block < last - 1n);
  try {
    const { missed } = await auditAll();
    const one = missed.find(({ policy }) => policy.policyId === fates.ids.get("missed"));
    expect(one?.confirmation).toEqual({ is: "confirmed", block: last });
  } finally {
    rpc.intercept();
  }
});

test("a node that accepts few blocks of logs at a time: the same verdicts", async () => {
  rpc.intercept(async (call, forward) => {
    const [filter] = call.params;
    if (
      call.method === "eth_getLogs" &&
      typeof filter === "object" &&
      filter !== null &&
      "fromBlock" in filter
    ) {
      const { fromBlock, toBlock } = { toBlock: undefined, ...filter };
      if (Number(toBlock) - Number(fromBlock) >= 9)
        return { error: { code: -32005, message: "at most 9 blocks" } };
    }
    return forward();
  });
  try {
    const found = await auditAll(openCoverChain(chain.deployment, rpc.url));
    expect(named(found.missed.map(({ policy }) => policy))).toEqual(["marked", "missed", "paused", "phased"]);
  } finally {
    rpc.intercept();
  }
});

test("a buyer that refuses bonds was payable by our reasoning; the chain refuses, and says why", async () => {
  const { refused } = await auditAll();
  expect(named(refused.map(({ policy }) => policy))).toEqual(["refused"]);
  const [one] = refused;
  expect(one?.policy.buyer).toBe(chain.deployment.contracts.policyManager);
  expect(one?.confirmation).toMatchObject({ is: "refused", reason: expect.stringMatching(/./) });
});

/** Every call of a view gets this answer, while `during` runs. */
async function whileView(selector: Hex, answer: RpcAnswer, during: () => Promise<void>): Promise<void> {
  const callSchema = z.object({ data: z.string() });
  rpc.intercept(async ({ params: [call] }, forward) => {
    const { data } = callSchema.safeParse(call).data ?? {};
    return data?.startsWith(selector) ? answer : forward();
  });
  try {
    await during();
  } finally {
    rpc.intercept();
  }
}

test("a node that lacks the newest policies answers one look: the due policy is found by the next look", async () => {
  const unaided = openCoverChain(chain.deployment, rpc.url);
  await whileView(
    toFunctionSelector(getAbiItem({ abi: policyManagerAbi, name: "getPolicy" })),
    { result: concat(Array.from({ length: 10 }, () => zeroHash)) },
    async () => {
      await expect(dueFromChain(unaided)).rejects.toThrow("is not on the node's chain");
      await expect(auditAll(unaided)).rejects.toThrow("is not on the node's chain");
    },
  );
  expect(named((await dueFromChain(unaided)).policies)).toEqual(["due"]);
  expect((await auditAll(unaided)).unknown).toEqual([]);
});

test("a node that lacks a shield answers one look: a new policy's terms are asked for again", async () => {
  const unaided = openCoverChain(chain.deployment, rpc.url);
  await whileView(
    toFunctionSelector(getAbiItem({ abi: shieldAdapterAbi, name: "shield" })),
    { result: "0x" },
    async () => expect((await dueFromChain(unaided)).policies).toEqual([]),
  );
  expect(named((await dueFromChain(unaided)).policies)).toEqual(["due"]);
});

test("the due policy has a proof that the contracts accept", async () => {
  const { head, policies } = await dueFromChain(cover);
  expect(head.number).toBe(await chain.client.getBlockNumber());
  const [due] = policies;
  const [first = 0n, second = 0n, third = 0n] = due?.rounds ?? [];
  await act.submitTrigger(
    openProtocol(chain.deployment, chain.url),
    chain.owner,
    hour,
    due?.policyId ?? 0n,
    act.oracleProof([first, second, third]),
  );
  expect((await dueFromChain(cover)).policies).toEqual([]);
});
