/** A chain whose node can be stopped and started again. It keeps its blocks, and loses the transactions of its pool. */
import { join } from "node:path";
import { inject } from "vitest";
import { chainOf } from "../../../lib/chain/client.ts";
import { startAnvil } from "../../../scripts/local/anvil.ts";
import { signalPid, waitUntilGone } from "../../../scripts/local/pids.ts";
import { openProtocol } from "../../../scripts/local/protocol/actions/index.ts";
import { mineEverySecond, mineNothing, startChain, type TestChain, testClient } from "../../support/chain.ts";
import { atEnd } from "../../support/cleanup.ts";
import { timeTravel } from "../../support/protocol-actions.ts";
import { recordPid } from "../../support/run-folder.ts";

/** Anvil writes each of them whole into its file: a few are enough for reads of the newest blocks after a start. */
const KEPT_STATES = 64;
/** Anvil writes its file first. */
const END_MS = 600_000;
/** It reads its file first: after fifty minutes of blocks, on a busy machine, for more than half a minute. */
const START_MS = 600_000;

export type SoakNode = {
  /** Its client sends the calls of one tick in one request. It mines a block every second. */
  readonly chain: TestChain;
  readonly kill: () => Promise<void>;
  /** Mines a block so many seconds after the newest, and goes on from there. @returns its time */
  readonly jump: (seconds: bigint) => Promise<bigint>;
  readonly start: () => Promise<void>;
};

/** Starts the node; the relayers are on the router's allowlist. */
export async function startNode(relayers: readonly TestChain["relayer"][]): Promise<SoakNode> {
  const state = join(inject("runFolder"), `node-${process.pid}.json`);
  const common = {
    blockTime: 1,
    keptStates: KEPT_STATES,
    args: ["--state", state, "--preserve-historical-states"],
  };
  const started = await startChain({ ...common, mixedMining: true, relayers });
  const { deployment, url } = started;
  const chain = { ...started, client: testClient(chainOf(deployment, url), url, { batch: true }) };
  await mineEverySecond(chain);
  let pid = chain.pid;
  let last = { timestamp: 0n, at: 0 };
  const protocol = openProtocol(deployment, url);
  let turn: Promise<unknown> = Promise.resolve();
  /** A jump between the last look at the node's time and its end would be undone by its next start. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = turn.then(work);
    turn = done.catch(() => {});
    return done;
  }
  return {
    chain,
    jump: (seconds) => inTurn(() => timeTravel(protocol, seconds)),
    kill: () =>
      inTurn(async () => {
        // A block that came while the file is written would be lost.
        await mineNothing(chain);
        last = { timestamp: (await chain.client.getBlock()).timestamp, at: Date.now() };
        signalPid(pid, "SIGTERM");
        if (!(await waitUntilGone(pid, END_MS))) throw new Error("the node did not end");
      }),
    async start() {
      // Anvil goes on at the machine's time otherwise, which may lie before the newest block's.
      const timestamp = last.timestamp + BigInt(Math.ceil((Date.now() - last.at) / 1000)) + 1n;
      const { chainId } = deployment;
      const port = Number(new URL(url).port);
      const anvil = await startAnvil({
        ...{ ...common, port, chainId, timestamp },
        ...{ logFile: `${state}.log`, startTimeoutMs: START_MS },
      });
      pid = anvil.pid;
      recordPid(inject("runFolder"), pid);
      atEnd(() => anvil.stop());
    },
  };
}
