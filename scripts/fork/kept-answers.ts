/** The forked node's answers about the chain up to the forked block, which never change: kept for the next start. */
import { numberToHex } from "viem";
import { z } from "zod";
import { errorText } from "../../lib/log.ts";
import { appendLine, readLines } from "./line-file.ts";
import type { Call } from "./upstream.ts";

/** Where the parameters of a call name its block. */
const blockParameter: Readonly<Record<string, number>> = {
  eth_getBalance: 1,
  eth_getCode: 1,
  eth_getTransactionCount: 1,
  eth_getStorageAt: 2,
  eth_call: 1,
  eth_getBlockByNumber: 0,
};
const paramsShape = z.array(z.unknown());
const blockNumber = z.string().regex(/^0x[0-9a-f]+$/);
const blockHash = z.object({ blockHash: z.string() });

/** The call, with the forked block for the newest one. */
function pinned({ method, params }: Call, forkBlock: bigint): Call {
  const place = blockParameter[method];
  const given = paramsShape.safeParse(params).data ?? [];
  if (place === undefined || given[place] !== "latest") return { method, params };
  return { method, params: given.with(place, numberToHex(forkBlock)) };
}

/** Whether the call is about a block that is over: one with a hash, or a number up to the forked one. */
function isFinal({ method, params }: Call, forkBlock: bigint): boolean {
  const given = paramsShape.safeParse(params).data ?? [];
  if (method === "eth_getBlockByHash") return true;
  if (method === "eth_getLogs") return blockHash.safeParse(given[0]).success;
  const place = blockParameter[method];
  const block = place === undefined ? undefined : blockNumber.safeParse(given[place]).data;
  return block !== undefined && BigInt(block) <= forkBlock;
}

const entry = z.object({ call: z.string(), answer: z.unknown() });

/** Keeps a line if the disk has room for it. */
function tryAppend(file: string, value: unknown): void {
  try {
    appendLine(file, value);
  } catch (error) {
    console.error(`what was read is not kept: ${errorText(error)}`);
  }
}

/** Answers by call; calls that are asked at the same time share one request. */
export class KeptAnswers {
  readonly #file: string;
  readonly #forkBlock: bigint;
  readonly #answers: Map<string, Promise<unknown>>;

  constructor(file: string, forkBlock: bigint) {
    this.#file = file;
    this.#forkBlock = forkBlock;
    const kept = readLines(file, entry);
    this.#answers = new Map(kept.map(({ call, answer }) => [call, Promise.resolve(answer)]));
  }

  /** The answer of an earlier call, or that of `ask`, kept if it cannot change. The forked block counts as the newest one. */
  get(asking: Call, ask: (call: Call) => Promise<unknown>): Promise<unknown> {
    const call = pinned(asking, this.#forkBlock);
    if (!isFinal(call, this.#forkBlock)) return ask(call);
    const key = JSON.stringify([call.method, call.params]);
    const known = this.#answers.get(key);
    if (known) return known;
    const asked = ask(call).then((answer) => {
      if (answer === null) this.#answers.delete(key);
      else tryAppend(this.#file, { call: key, answer });
      return answer;
    });
    this.#answers.set(key, asked);
    asked.catch(() => this.#answers.delete(key));
    return asked;
  }
}
