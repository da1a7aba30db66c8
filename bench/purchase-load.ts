/** Clients that buy over HTTP. Each buyer has its own API key, and each call is a new purchase. */
import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";
import type { Address } from "viem";
import { z } from "zod";
import type { Permit } from "../lib/chain/permit.ts";
import { MINIMUM_COVERAGE } from "../lib/products.ts";

export const PRODUCT = "FLASHBTC1H-001";

export type Answer = { readonly status: number; readonly ms: number };
export type Agents = {
  /** Makes one purchase. With `wait` false the api responds before it is mined. */
  readonly buy: (
    idempotencyKey: string,
    n: number,
    how: { readonly wait: boolean; readonly permit?: PermitBody | undefined },
  ) => Promise<Answer>;
  readonly close: () => Promise<void>;
};

const created = z.object({ apiKey: z.string() });

/** The permit of a purchase's body. */
export type PermitBody = Readonly<Record<keyof Permit, string>>;

/** Creates a key for each buyer and opens a pool of `connections` for all of them. */
export async function openAgents(
  apiUrl: string,
  adminToken: string,
  buyers: readonly Address[],
  connections: number,
): Promise<Agents> {
  const pool = new Pool(apiUrl, { connections, pipelining: 1, headersTimeout: 60_000 });
  const json = { "content-type": "application/json" };
  const agents: { buyer: Address; apiKey: string }[] = [];
  for (const buyer of buyers) {
    const { statusCode, body } = await pool.request({
      method: "POST",
      path: "/api/v1/keys/generate",
      headers: { ...json, "x-admin-token": adminToken },
      body: JSON.stringify({ wallet: buyer, label: "bench" }),
    });
    if (statusCode !== 201) throw new Error(`no key for ${buyer}: ${statusCode} ${await body.text()}`);
    const { apiKey } = created.parse(await body.json());
    agents.push({ buyer, apiKey });
  }
  return {
    async buy(idempotencyKey, n, { wait, permit }) {
      const agent = agents[n % agents.length];
      if (!agent) throw new Error("there are no agents");
      const started = performance.now();
      const { statusCode, body } = await pool.request({
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
          coverageAmount: String(MINIMUM_COVERAGE),
          buyer: agent.buyer,
          permit,
        }),
      });
      const text = await body.text();
      if (statusCode >= 400 && statusCode !== 503) throw new Error(`${statusCode}: ${text}`);
      return { status: statusCode, ms: performance.now() - started };
    },
    close: () => pool.close(),
  };
}

/**
 * Makes `count` purchases: each connection sends the next one when it has its response. With `permits`, the purchase of each
 * buyer has that of the same place.
 */
export async function buyAtFullLoad(
  agents: Agents,
  name: string,
  { count, connections, wait }: { count: number; connections: number; wait: boolean },
  permits: readonly PermitBody[] = [],
): Promise<Answer[]> {
  const answers: Answer[] = [];
  let next = 0;
  const client = async () => {
    while (next < count) {
      const n = next;
      next += 1;
      answers.push(await agents.buy(`${name}-${n}`, n, { wait, permit: permits[n] }));
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
