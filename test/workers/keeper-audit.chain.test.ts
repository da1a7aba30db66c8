/** The audit of a real chain: one policy of each fate, and the audit says exactly that. The chain confirms what was missed. */
import { erc20Abi } from "viem";
import { beforeAll, expect, test } from "vitest";
import { openProtocol, type Protocol } from "../../scripts/local/protocol/actions/index.ts";
import { type ProductTerms, termsOf } from "../../scripts/local/protocol/terms.ts";
import { type Audit, audit, auditClosed } from "../../workers/keeper/audit/audit.ts";
import { type CoverChain, openCoverChain } from "../../workers/keeper/from-chain/cover-chain.ts";
import { dueFromChain } from "../../workers/keeper/from-chain/due.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import * as act from "../support/protocol-actions.ts";
import { type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";

const COVERAGE = 1_000_000_000n;
const HOUR = 3_600n;
const HIGH = 60_000_00000000n;
/** Below the trigger price of an hour's cover, above that of a day's. */
const LOW = 58_000_00000000n;

let chain: TestChain;
let protocol: Protocol;
let rpc: RpcProxy;
let cover: CoverChain;
/** The ids of the policies, by their fates. */
const ids = new Map<string, bigint>();
/** The payable blocks of the missed ones. */
const payable = new Map<string, { first: bigint; last: bigint }>();
let downtime = { from: 0n, to: 0n };
let lastBlock = 0n;

const hour: ProductTerms = termsOf("FLASHBTC1H-001");
const now = () => act.chainTime(protocol);
const newest = () => chain.client.getBlockNumber();
const push = (price: bigint) => act.pushPrice(protocol, chain.owner, "BTC", price);

/** Fresh prices and a sequencer that has been up for long, so that policies can be bought; then a purchase. */
async function buy(
  fate: string,
  product = hour,
  purchase = (terms: ProductTerms) => act.purchase(protocol, chain.owner, terms, COVERAGE),
): Promise<{ policyId: bigint; endsAt: bigint }> {
  await act.setSequencer(protocol, chain.owner, { down: false, startedAt: (await now()) - 2n * HOUR });
  await act.refreshFeeds(protocol, chain.owner);
  await push(HIGH);
  // A round counts from the second of the purchase on, also one from before it: those of the policy before must be older.
  await act.timeTravel(protocol, 10n);
  const { policyId } = await purchase(product);
  ids.set(fate, policyId);
  return { policyId, endsAt: (await now()) + BigInt(product.durationSeconds) };
}

async function fall(rounds = 3): Promise<void> {
  for (let i = 0; i < rounds; i++) await push(LOW);
}

/** Mines the window's last second, and the first one after it. @returns the block of the last second */
async function endWindow(endsAt: bigint): Promise<bigint> {
  await act.mineAt(protocol, endsAt);
  const last = await newest();
  await act.mineAt(protocol, endsAt + 1n);
  return last;
}

async function miss(fate: string): Promise<void> {
  const { endsAt } = await buy(fate);
  await fall();
  const first = (await newest()) + 1n;
  await push(HIGH);
  const last = await endWindow(endsAt);
  payable.set(fate, { first, last });
}

const fates: Readonly<Record<string, () => Promise<void>>> = {
  async triggered() {
    const { policyId, endsAt } = await buy("triggered");
    await act.trigger(protocol, chain.owner, hour, policyId);
    await endWindow(endsAt);
  },
  missed: () => miss("missed"),
  async marked() {
    await miss("marked");
    await act.markExpired(protocol, chain.owner, hour, ids.get("marked") ?? 0n);
  },
  async refused() {
    const { coverRouter, pauseRegistry: buyer, usdc } = chain.deployment.contracts;
    const { client } = chain;
    await client.setBalance({ address: buyer, value: 10n ** 18n });
    await client.impersonateAccount({ address: buyer });
    await act.mintUsdc(protocol, chain.owner, buyer, COVERAGE);
    const approve = { abi: erc20Abi, functionName: "approve", args: [coverRouter, COVERAGE] } as const;
    await client.writeContract({ ...approve, address: usdc, account: buyer, chain: client.chain });
    const { endsAt } = await buy("refused", hour, (terms) =>
      act.purchaseFor(protocol, chain.relayer, terms, COVERAGE, buyer),
    );
    await fall();
    await endWindow(endsAt);
  },
  async down() {
    await miss("down");
    const { first, last } = payable.get("down") ?? { first: 0n, last: 0n };
    const time = async (blockNumber: bigint) => (await chain.client.getBlock({ blockNumber })).timestamp;
    downtime = { from: await time(first), to: await time(last) };
  },
  async sequencer_down() {
    const { endsAt } = await buy("sequencer_down");
    await act.setSequencer(protocol, chain.owner, { down: true, startedAt: await now() });
    await fall();
    await act.setSequencer(protocol, chain.owner, { down: false, startedAt: await now() });
    await endWindow(endsAt);
  },
  async paused() {
    const { endsAt } = await buy("paused");
    await act.setGlobalPause(protocol, chain.owner, true);
    await fall();
    await endWindow(endsAt);
    await act.setGlobalPause(protocol, chain.owner, false);
  },
  async last_block() {
    const { endsAt } = await buy("last_block");
    await fall(2);
    await act.nextBlockAt(protocol, endsAt);
    await fall(1);
    await act.mineAt(protocol, endsAt + 1n);
  },
  async cancelled() {
    const { policyId } = await buy("cancelled");
    await fall(2);
    await act.cancelPolicy(protocol, chain.owner, hour, policyId);
    await fall(1);
  },
  async not_met() {
    const { endsAt } = await buy("not_met");
    await fall(2);
    await endWindow(endsAt);
  },
  async open() {
    await buy("open", termsOf("FLASHBTC24-001"));
  },
  async due() {
    await buy("due");
    await fall();
  },
};

beforeAll(async () => {
  chain = await startChain({ retired: false, timestamp: 1_900_000_000n });
  rpc = await startRpcProxy(chain.url);
  protocol = openProtocol(chain.deployment, chain.url);
  cover = openCoverChain(chain.deployment, rpc.url);
  const { coverRouter, policyManager } = chain.deployment.contracts;
  await act.mintUsdc(protocol, chain.owner, chain.owner.address, 10_000_000_000_000n);
  for (const spender of [coverRouter, policyManager]) await act.approveUsdc(protocol, chain.owner, spender);
  for (const happen of Object.values(fates)) await happen();
  lastBlock = await newest();
});

const auditAll = (chainOf: CoverChain = cover, fromBlock = 0n): Promise<Audit> =>
  audit(chainOf, { fromBlock, toBlock: lastBlock, downtime: [downtime] });

/** The fates that the audit names, each with the id of its policy. */
const named = (policies: readonly { policyId: bigint }[]) =>
  policies.map(({ policyId }) => [...ids].find(([, id]) => id === policyId)?.[0]).sort();

test("each policy has the verdict that it deserves", async () => {
  const found = await auditAll();
  expect(named(found.missed.map(({ policy }) => policy))).toEqual(["marked", "missed"]);
  expect(named(found.missedWhileDown.map(({ policy }) => policy))).toEqual(["down"]);
  expect(
    Object.fromEntries(found.neverPayable.map(({ policy, reason }) => [named([policy])[0], reason])),
  ).toEqual({
    sequencer_down: "sequencer_down",
    paused: "paused",
    last_block: "last_block",
  });
  const { triggered, cancelled, notMet, open } = found;
  expect({ triggered, cancelled, notMet, open }).toEqual({ triggered: 1, cancelled: 1, notMet: 1, open: 2 });
  expect(named(found.due)).toEqual(["due"]);
  expect(found.unknown).toEqual([]);
});

test("what was missed was payable in exactly these blocks, and the chain confirms it", async () => {
  const { missed, missedWhileDown } = await auditAll();
  for (const { policy, first, last, confirmation } of [...missed, ...missedWhileDown]) {
    const fate = named([policy])[0] ?? "";
    expect({ first: first.block, last: last.block }, fate).toEqual(payable.get(fate));
    expect(confirmation).toEqual({ is: "confirmed", block: first.block });
    expect(last.time).toBe(policy.terms.endsAt);
    expect(policy.buyer).toBe(chain.owner.address);
  }
});

test("the audits of adjacent ranges add up, and so do the counts of the running audit", async () => {
  const sum = {
    triggered: 0,
    cancelled: 0,
    notMet: 0,
    missed: 0,
    missedWhileDown: 0,
    refused: 0,
    neverPayable: 0,
  };
  for (let fromBlock = 0n; fromBlock <= lastBlock; fromBlock += 11n) {
    const toBlock = fromBlock + 10n < lastBlock ? fromBlock + 10n : lastBlock;
    const part = await audit(cover, { fromBlock, toBlock, downtime: [downtime] });
    for (const count of ["triggered", "cancelled", "notMet"] as const) sum[count] += part[count];
    for (const list of ["missed", "missedWhileDown", "refused", "neverPayable"] as const)
      sum[list] += part[list].length;
  }
  const lists = { missed: 2, missedWhileDown: 1, refused: 1, neverPayable: 3 };
  expect(sum).toEqual({ triggered: 1, cancelled: 1, notMet: 1, ...lists });
  const options = { fromBlock: 0n, toBlock: lastBlock, downtime: [downtime] };
  const neverPayable = { sequencer_down: 1, paused: 1, last_block: 1 };
  expect(await auditClosed(cover, options)).toMatchObject({ ...lists, neverPayable });
});

test("a node without old states: the same verdicts, and nothing is confirmed", async () => {
  const newestBlock = `0x${lastBlock.toString(16)}`;
  rpc.intercept(async (call, forward) => {
    const at = call.params[1];
    const isOld = call.method === "eth_call" && at !== "latest" && at !== newestBlock;
    return isOld ? { error: { code: -32000, message: "missing trie node" } } : forward();
  });
  try {
    const warnings: string[] = [];
    const warn = (text: string) => warnings.push(text);
    const found = await auditAll(openCoverChain(chain.deployment, rpc.url, { warn }));
    // Without the chain's answer nobody knows that one buyer refuses bonds.
    expect(named(found.missed.map(({ policy }) => policy))).toEqual(["marked", "missed", "refused"]);
    expect(found.missed.map(({ confirmation }) => confirmation.is)).toContain("no_state");
    expect(found.neverPayable.map(({ reason }) => reason).sort()).toEqual([
      "last_block",
      "paused",
      "sequencer_down",
    ]);
    expect((await dueFromChain(openCoverChain(chain.deployment, rpc.url, { warn }))).policies).toHaveLength(
      1,
    );
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
    expect(named(found.missed.map(({ policy }) => policy))).toEqual(["marked", "missed"]);
  } finally {
    rpc.intercept();
  }
});

test("a buyer that refuses bonds was payable by our reasoning; the chain refuses, and says why", async () => {
  const { refused } = await auditAll();
  expect(named(refused.map(({ policy }) => policy))).toEqual(["refused"]);
  const [one] = refused;
  expect(one?.policy.buyer).toBe(chain.deployment.contracts.pauseRegistry);
  expect(one?.confirmation).toMatchObject({ is: "refused", reason: expect.stringMatching(/./) });
});

test("the due policy has a proof that the contracts accept", async () => {
  const { head, policies } = await dueFromChain(cover);
  expect(head.number).toBe(await newest());
  const [due] = policies;
  const [first = 0n, second = 0n, third = 0n] = due?.rounds ?? [];
  await act.submitTrigger(
    protocol,
    chain.owner,
    hour,
    due?.policyId ?? 0n,
    act.oracleProof([first, second, third]),
  );
  expect((await dueFromChain(cover)).policies).toEqual([]);
});
