/** The entries of a buyer's list, against the same policies one by one. */
import postgres, { type Sql } from "postgres";
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { waitFor } from "../../../scripts/local/wait.ts";
import { servedSchema } from "../../src/support/rows.ts";
import { atEnd } from "../../support/cleanup.ts";
import type { TestApi } from "./api.ts";
import { answersCaughtUp } from "./caught-up.ts";

const SEED = Number(process.env.POLICY_SEED || Date.now() % 1_000_000);
const POLICIES = 160;
const BUYER = "0x00000000000000000000000000000000000000ab";

/** Numbers below `below`, the same for each seed. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const hex = (n: number, bytes: number): string => `0x${n.toString(16).padStart(2 * bytes, "0")}`;

const names = [
  'a"b\\c',
  '","shield":"0x00000000000000000000000000000000000000aa"',
  "line\nbreak\ttab\u0001",
  "Erdbeben €, 地震 🌋",
];
const answers = ["5800000000000", "1", "0", "-5", null];

const keys = z.object({ policies: z.array(z.looseObject({ productId: z.string(), policyId: z.string() })) });
const page = keys.extend({ count: z.int(), nextCursor: z.string().nullable() });

/** Inserts rows into the index. */
export function policyEntries(api: () => TestApi): void {
  let sql: Sql;
  let schema: string;
  /** The time of the indexed head, Unix seconds. */
  let now: bigint;

  beforeAll(async () => {
    const { chain, stack } = api();
    sql = postgres(stack.databaseUrl, { max: 1, onnotice: () => {} });
    atEnd(() => sql.end());
    await answersCaughtUp(api());
    ({ timestamp: now } = await chain.client.getBlock());
    schema = (await servedSchema(sql)) ?? "";
  });

  /** Products with names that JSON escapes, feeds with answers that no shield takes, rounds that make policies due. */
  async function insertWorld(random: (below: number) => number): Promise<void> {
    const table = (name: string) => sql`${sql(schema)}.${sql(name)}`;
    const position = { block_hash: hex(1, 32), block_timestamp: String(now), tx_hash: hex(2, 32) };
    await sql.begin(async (tx) => {
      await tx`set local session_replication_role = replica`;
      for (const [n, name] of names.entries()) {
        await tx`insert into ${table("product")} ${tx({ product_id: hex(1000 + n, 32), name, active: n !== 1, updated_at_block: "1" })}`;
      }
      for (const [n, answer] of answers.entries()) {
        const round = answer === null ? null : "5";
        const feed = { asset: hex(2000 + n, 32), phase: 0, round_id: round, answer };
        await tx`insert into ${table("oracle_feed")} ${tx({ ...feed, updated_at: round && String(now) })}`;
      }
      const phase = { asset: hex(2000, 32), phase: 0, block_number: "1", log_index: 0, ...position };
      await tx`insert into ${table("oracle_phase")} ${tx(phase)}`;
      for (const round of ["3", "4", "5"]) {
        const own = { asset: hex(2000, 32), round_id: round, phase: 0, answer: "5800000000000" };
        const row = {
          ...own,
          updated_at: String(now),
          block_number: "1",
          log_index: Number(round),
          ...position,
        };
        await tx`insert into ${table("oracle_round")} ${tx(row)}`;
      }
      for (let n = 0; n < POLICIES; n += 1) {
        const maybe = (value: string) => (random(8) === 0 ? value : null);
        const near = (seconds: number) => String(now - BigInt(seconds) + BigInt(random(2 * seconds + 1)));
        const row = {
          // A few are of an unknown product.
          product_id: hex(1000 + (random(50) === 0 ? names.length : random(names.length)), 32),
          // Ids of 3 to 72 digits. No two are the same: of 100 to 259, none is another one times a power of ten.
          policy_id: String(BigInt(n + 100) * 10n ** BigInt(random(70))),
          buyer: BUYER,
          shield: hex(0xabcdef + random(3), 20),
          asset: hex(2000 + random(2) * random(answers.length + 1), 32),
          strike: maybe(`6${"0".repeat(22)}`),
          trigger_price:
            random(8) === 0 ? null : ["58000000000000000000000", "58500000000000000000001", "3"][random(3)],
          coverage: String(random(1e9)),
          premium: String(random(1e9)),
          payout: String(random(1e9)),
          price_snapshot: String(random(1e9)),
          observations: random(3),
          created_at: near(10_000),
          expires_at: near(random(2) === 0 ? 1 : 10_000),
          triggered_at: maybe(near(10)),
          bond_epoch_id: maybe("203001"),
          block_number: String(100 + Math.floor(n / 3)),
          log_index: n % 3,
          ...position,
        };
        await tx`insert into ${table("policy")} ${tx({ ...row, trigger_price: row.trigger_price ?? null })}`;
      }
    });
  }

  test(`each entry is byte for byte the policy and its position (POLICY_SEED=${SEED})`, async () => {
    console.log(`POLICY_SEED=${SEED}`);
    await insertWorld(createRandom(SEED));
    const seen = new Set<string>();
    const statuses = new Set<unknown>();
    for (let query: string | null = "limit=7"; query !== null; ) {
      const list = await api().request(`/api/v1/policies/by-buyer/${BUYER}?${query}`);
      const { policies, count, nextCursor } = page.parse(list.json);
      expect(count).toBe(policies.length);
      for (const { productId, policyId, status, due, txHash, blockNumber, logIndex } of policies) {
        const { text } = await waitFor({
          what: "the policy from the index; the chain, which is asked when that is late, does not have it",
          probe: async () => {
            const one = await api().request(`/policies/${productId}/${policyId}`);
            return one.headers.has("x-indexed-block") ? one : undefined;
          },
        });
        const position = JSON.stringify({ txHash, blockNumber, logIndex });
        expect(list.text).toContain(`${text.slice(0, -1)},${position.slice(1)}`);
        seen.add(`${productId}:${policyId}`);
        statuses.add(status).add(due);
      }
      query = nextCursor && `limit=7&cursor=${nextCursor}`;
    }
    expect(seen.size).toBe(POLICIES);
    expect(statuses).toEqual(new Set(["Active", "Triggered", "Expired", true, false]));
  });

  test("policies whose key has come again are in the lists, in the order of all, and ended unless they were paid", async () => {
    const owner = "0x00000000000000000000000000000000000000aC";
    const table = (name: string) => sql`${sql(schema)}.${sql(name)}`;
    const common = {
      ...{ product_id: hex(1000, 32), buyer: owner.toLowerCase(), paid_by: owner.toLowerCase() },
      ...{
        coverage: "1000",
        premium: "7",
        payout: "800",
        price_snapshot: "99",
        observations: 0,
        created_at: String(now - 50n),
      },
      ...{ shield: hex(0xabcdef, 20), asset: hex(2000, 32), expires_at: String(now + 5_000n) },
      ...{ block_hash: hex(1, 32), block_timestamp: String(now), tx_hash: hex(2, 32) },
    };
    await sql.begin(async (tx) => {
      await tx`set local session_replication_role = replica`;
      for (let n = 0; n < 12; n += 1) {
        const isOlder = n % 3 === 0;
        const row = {
          ...{ ...common, policy_id: String(9_000 + (isOlder ? n + 1 : n)) },
          ...{ block_number: String(900 + n), log_index: 1 },
          // The index does not know the terms of one product.
          ...(n === 3 ? { shield: null, expires_at: null } : {}),
          ...(n === 6 ? { triggered_at: String(now - 9n) } : {}),
        };
        await tx`insert into ${table(isOlder ? "replaced_policy" : "policy")} ${tx(row)}`;
      }
    });
    const listed = page.extend({
      policies: z.array(z.looseObject({ blockNumber: z.string(), status: z.string(), due: z.boolean() })),
    });
    for (const path of [`by-buyer/${owner}?`, `all?buyer=${owner}&`]) {
      const read = async (query: string) =>
        listed.parse((await api().request(`/api/v1/policies/${path}${query}`)).json);
      const { policies } = await read("limit=100");
      expect(policies.map(({ blockNumber }) => Number(blockNumber))).toEqual(
        Array.from({ length: 12 }, (_, n) => 911 - n),
      );
      const older = policies.filter((_, place) => (11 - place) % 3 === 0);
      expect(older.map(({ status, due }) => `${status} ${due}`)).toEqual([
        "Expired false",
        "Triggered false",
        "Expired false",
        "Expired false",
      ]);
      for (const limit of [1, 2, 5, 11, 12]) {
        for (const offset of [0, 1, 10])
          expect((await read(`limit=${limit}&offset=${offset}`)).policies).toEqual(
            policies.slice(offset, offset + limit),
          );
        const walked: unknown[] = [];
        for (let query: string | null = `limit=${limit}`; query !== null; ) {
          const { policies: some, nextCursor } = await read(query);
          walked.push(...some);
          query = nextCursor && `limit=${limit}&cursor=${nextCursor}`;
        }
        expect(walked).toEqual(policies);
      }
    }
    const byStatus = async (status: string) =>
      listed.parse(
        (await api().request(`/api/v1/policies/all?buyer=${owner}&status=${status}&limit=100`)).json,
      ).policies.length;
    expect(
      await Promise.all(["Waiting", "Active", "Triggered", "Expired", "Cancelled"].map(byStatus)),
    ).toEqual([0, 8, 1, 3, 0]);
  });

  test("pages of any length and offset are parts of the same list, and their cursors continue it", async () => {
    const read = async (query: string) =>
      page.parse((await api().request(`/api/v1/policies/by-buyer/${BUYER}?${query}`)).json);
    const all = [...(await read("limit=100")).policies, ...(await read("limit=100&offset=100")).policies];
    expect(all.length).toBe(POLICIES);
    for (const limit of [1, 9, 10, 11, 49, 50, 51, 99]) {
      for (const offset of [0, 3, POLICIES - 5]) {
        const { policies, nextCursor } = await read(`limit=${limit}&offset=${offset}`);
        expect(policies).toEqual(all.slice(offset, offset + limit));
        const rest = all.slice(offset + limit);
        expect(nextCursor === null).toBe(rest.length === 0);
        if (nextCursor !== null)
          expect((await read(`limit=5&cursor=${nextCursor}`)).policies).toEqual(rest.slice(0, 5));
      }
    }
  });
}
