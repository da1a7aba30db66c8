/** The audit of a real chain: one policy of each fate, and the audit says exactly that. The chain confirms what was missed. */
import { getAbiItem, type Hex, hexToBigInt, isHex, toFunctionSelector } from "viem";
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { shieldAdapterAbi } from "../../abis/ShieldAdapter.ts";
import { type Audit, audit, auditClosed } from "../../workers/keeper/audit/audit.ts";
import { type CoverChain, openCoverChain } from "../../workers/keeper/from-chain/cover-chain.ts";
import { dueFromChain } from "../../workers/keeper/from-chain/due.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { livePolicies, type PolicyFates, upkeep } from "../support/policy-fates.ts";
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

const missedFates = ["marked", "missed", "paused", "phased"];
const reasons = {
  price_oracle: "price_oracle",
  capacity: "capacity",
  receiver: "receiver",
  no_way: "no_way",
  sequencer_down: "sequencer_down",
};

const auditAll = (chainOf: CoverChain = cover, fromBlock = 0n): Promise<Audit> =>
  audit(chainOf, { fromBlock, toBlock: fates.lastBlock, downtime: [fates.downtime] });

/** The fates that the audit names, each with the id of its policy. */
const named = (policies: readonly { policyId: bigint }[]) =>
  policies.map(({ policyId }) => [...fates.ids].find(([, id]) => id === policyId)?.[0]).sort();

test("each policy has the verdict that it deserves", async () => {
  const found = await auditAll();
  expect(named(found.missed.map(({ policy }) => policy))).toEqual(missedFates);
  expect(named(found.missedWhileDown.map(({ policy }) => policy))).toEqual(["down"]);
  expect(
    Object.fromEntries(found.neverPayable.map(({ policy, reason }) => [named([policy])[0], reason])),
  ).toEqual(reasons);
  const { triggered, notMet, open, refused } = found;
  expect({ triggered, notMet, open, refused }).toEqual({ triggered: 1, notMet: 2, open: 2, refused: [] });
  expect(named(found.due)).toEqual(["due"]);
  expect(found.due[0]).toMatchObject({ observation: 2, buyer: chain.owner.address.toLowerCase() });
  expect(found.unknown).toEqual([]);
});

test("a reset by the keeper's own wallet excuses nothing", async () => {
  const options = { fromBlock: 0n, toBlock: fates.lastBlock, downtime: [fates.downtime] };
  const { missed, notMet } = await audit(cover, { ...options, wallets: [fates.resetBy] });
  const one = missed.find(({ policy }) => policy.policyId === fates.ids.get("reset"));
  expect({ first: one?.first.block, last: one?.last.block }).toEqual(fates.payable.get("reset"));
  expect(notMet).toBe(1);
});

test("what a buyer with code missed is counted apart, but for that of a stated downtime", async () => {
  const address = chain.owner.address;
  await chain.client.setCode({ address, bytecode: "0x00" });
  const { missed, missedWhileDown, missedContracts } = await auditAll();
  await chain.client.setCode({ address, bytecode: "0x" });
  expect(missed).toEqual([]);
  expect(named(missedWhileDown.map(({ policy }) => policy))).toEqual(["down"]);
  expect(named(missedContracts.map(({ policy }) => policy))).toEqual(missedFates);
});

test("what was missed was payable in exactly these blocks, and the chain confirms it", async () => {
  const { missed, missedWhileDown } = await auditAll();
  for (const { policy, first, last, payout } of [...missed, ...missedWhileDown]) {
    const fate = named([policy])[0] ?? "";
    expect({ first: first.block, last: last.block }, fate).toEqual(fates.payable.get(fate));
    expect(payout).toEqual({ is: "confirmed", block: first.block });
    expect(last.time).toBe(policy.terms.endsAt);
    expect(policy.buyer).toBe(chain.owner.address.toLowerCase());
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
  const lists = { missed: 4, missedWhileDown: 1, refused: 0, neverPayable: 5 };
  expect(sum).toEqual({ triggered: 1, notMet: 2, ...lists });
  const options = { fromBlock: 0n, toBlock: fates.lastBlock, downtime: [fates.downtime] };
  const neverPayable = Object.fromEntries(Object.values(reasons).map((reason) => [reason, 1]));
  expect(await auditClosed(cover, options)).toMatchObject({ ...lists, neverPayable });
});

const withoutStates = (isMissing: (block: bigint) => boolean) =>
  rpc.intercept(async (call, forward) => {
    const at = call.params[1];
    const isOld = call.method === "eth_call" && isHex(at) && isMissing(hexToBigInt(at));
    return isOld ? { error: { code: -32000, message: "missing trie node" } } : forward();
  });

test("a node without old states: the same replay, and no payout is asked for", async () => {
  withoutStates((block) => block < fates.lastBlock);
  try {
    const warnings: string[] = [];
    const unaided = openCoverChain(chain.deployment, rpc.url, { warn: (text) => warnings.push(text) });
    const found = await auditAll(unaided);
    // Without the chain's answer nobody knows which payouts would have failed.
    const missed = [...missedFates, "price_oracle", "capacity", "no_way"].sort();
    expect(named(found.missed.map(({ policy }) => policy))).toEqual(missed);
    expect(named(found.missedContracts.map(({ policy }) => policy))).toEqual(["receiver"]);
    expect(new Set(found.missed.map(({ payout }) => payout.is))).toEqual(new Set(["no_state"]));
    expect(found.neverPayable.map(({ reason }) => reason)).toEqual(["sequencer_down"]);
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
    expect(one?.payout).toEqual({ is: "confirmed", block: last });
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
    expect(named(found.missed.map(({ policy }) => policy))).toEqual(missedFates);
  } finally {
    rpc.intercept();
  }
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

test("a node that lacks a shield answers one look: it is asked for again", async () => {
  const unaided = openCoverChain(chain.deployment, rpc.url);
  await whileView(
    toFunctionSelector(getAbiItem({ abi: shieldAdapterAbi, name: "shield" })),
    { result: "0x" },
    async () => expect((await dueFromChain(unaided)).policies).toEqual([]),
  );
  expect(named((await dueFromChain(unaided)).policies)).toEqual(["due"]);
});

test("the due policy can be observed, and then not before a newer round", async () => {
  const { head, policies } = await dueFromChain(cover);
  expect(head.number).toBe(await chain.client.getBlockNumber());
  expect(policies).toMatchObject([{ observation: 2, changedIn: expect.any(BigInt) }]);
  await upkeep(chain, [policies[0]?.policyId ?? 0n]);
  expect((await dueFromChain(cover)).policies).toEqual([]);
  const { due } = await audit(cover, { fromBlock: 0n, toBlock: undefined });
  expect(due).toEqual([]);
});
