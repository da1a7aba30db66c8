/** Clients that buy over HTTP. Each buyer has its own API key, and each call is a new purchase. */
import { setTimeout as sleep } from "node:timers/promises";
import { Pool, request } from "undici";
import type { Address } from "viem";
import { z } from "zod";
import type { Permit } from "../lib/chain/permit.ts";
import { MINIMUM_COVERAGE } from "../lib/products.ts";

export const PRODUCT = "FLASHBTC1H-001";

export type Answer = { readonly status: number; readonly ms: number };
export type Reply = Answer & {
  readonly text: string;
  /** Undefined if the api says that the same call should not be sent again. In ms. */
  readonly retryAfterMs: number | undefined;
};
export type Purchase = {
  /** With `false` the api responds before the purchase is mined. */
  readonly wait: boolean;
  readonly permit?: PermitBody | undefined;
  /** The least possible when left out. */
  readonly coverage?: bigint | undefined;
};
export type Agents = {
  /** Makes one purchase. @throws with the api's answer when it is an error other than a 503. */
  readonly buy: (idempotencyKey: string, n: number, purchase: Purchase) => Promise<Answer>;
  /** Sends the call of a purchase; each further `attempt` goes to another api. @throws when no answer comes. */
  readonly send: (idempotencyKey: string, n: number, purchase: Purchase, attempt: number) => Promise<Reply>;
  readonly close: () => Promise<void>;
};

const created = z.object({ apiKey: z.string() });

/** The permit of a purchase's body. */
export type PermitBody = Readonly<Record<keyof Permit, string>>;

const json = { "content-type": "application/json" };

/** The API key of a wallet that buys. */
export type BuyerKey = { readonly buyer: Address; readonly apiKey: string };

/** Creates a key for each buyer. A wallet may have few, so they are used by several {@link openAgents}. */
export async function createKeys(
  apiUrl: string,
  adminToken: string,
  buyers: readonly Address[],
): Promise<BuyerKey[]> {
  const keys: BuyerKey[] = [];
  for (const buyer of buyers) {
    const { statusCode, body } = await request(`${apiUrl}/api/v1/keys/generate`, {
      method: "POST",
      headers: { ...json, "x-admin-token": adminToken },
      body: JSON.stringify({ wallet: buyer, label: "bench" }),
    });
    if (statusCode !== 201) throw new Error(`no key for ${buyer}: ${statusCode} ${await body.text()}`);
    const { apiKey } = created.parse(await body.json());
    keys.push({ buyer, apiKey });
  }
  return keys;
}

/** Opens `connections`, shared out between the apis, for all of these buyers. */
export function openAgents(
  apiUrls: readonly string[],
  agents: readonly BuyerKey[],
  connections: number,
): Agents {
  const share = Math.ceil(connections / apiUrls.length);
  const pools = apiUrls.map(
    (url) => new Pool(url, { connections: share, pipelining: 1, headersTimeout: 60_000 }),
  );
  const send: Agents["send"] = async (idempotencyKey, n, { wait, permit, coverage }, attempt) => {
    const agent = agents[n % agents.length];
    if (!agent) throw new Error("there are no agents");
    const started = performance.now();
    // Each buyer's purchases go to all apis in turn.
    const pool = pools[(Math.floor(n / agents.length) + attempt) % pools.length];
    if (!pool) throw new Error("there is no api");
    const { statusCode, headers, body } = await pool.request({
      method: "POST",
      path: "/api/v1/policies",
      headers: {
        ...json,
        "x-api-key": agent.apiKey,
        "idempotency-key": idempotencyKey,
        ...(wait ? {} : { prefer: "respond-async" }),
      },
      body: JSON.stringify({
        productName: PRODUCT,
        coverageAmount: String(coverage ?? MINIMUM_COVERAGE),
        buyer: agent.buyer,
        permit,
      }),
    });
    const text = await body.text();
    const again = headers["x-should-retry"] === "true";
    return {
      status: statusCode,
      ms: performance.now() - started,
      text,
      retryAfterMs: again ? 1000 * Number(headers["retry-after"] ?? 0) : undefined,
    };
  };
  return {
    send,
    async buy(idempotencyKey, n, purchase) {
      const { status, text, ms } = await send(idempotencyKey, n, purchase, 0);
      if (status >= 400 && status !== 503) throw new Error(`${status}: ${text}`);
      return { status, ms };
    },
    close: async () => void (await Promise.all(pools.map((pool) => pool.close()))),
  };
}

export type FullLoad = {
  readonly count: number;
  readonly connections: number;
  readonly wait: boolean;
  /** The coverage of the first purchase; each further one covers a millionth of a dollar more. All cover the least when left out. */
  readonly coverageFrom?: bigint;
};

/**
 * Makes `count` purchases: each connection sends the next one when it has its response. With `permits`, the purchase of each
 * buyer has that of the same place.
 */
export async function buyAtFullLoad(
  agents: Agents,
  name: string,
  { count, connections, wait, coverageFrom }: FullLoad,
  permits: readonly PermitBody[] = [],
): Promise<Answer[]> {
  const answers: Answer[] = [];
  let next = 0;
  const client = async () => {
    while (next < count) {
      const n = next;
      next += 1;
      const coverage = coverageFrom === undefined ? undefined : coverageFrom + BigInt(n);
      answers.push(await agents.buy(`${name}-${n}`, n, { wait, permit: permits[n], coverage }));
    }
  };
  await Promise.all(Array.from({ length: connections }, client));
  return answers;
}

/** Makes `count` purchases at a steady rate, without waiting for responses. */
export async function buyAtRate(
  agents: Agents,
  name: string,
  { count, perSecond }: { count: number; perSecond: number },
): Promise<Answer[]> {
  const started = performance.now();
  const answers: Promise<Answer>[] = [];
  for (let n = 0; n < count; n += 1) {
    const due = started + (n * 1000) / perSecond - performance.now();
    if (due > 0) await sleep(due);
    answers.push(agents.buy(`${name}-${n}`, n, { wait: false }));
  }
  return Promise.all(answers);
}
