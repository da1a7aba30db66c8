/**
 * The sessions of Postgres, with the queue on it too: a deployment with its defaults fits a server with its defaults, and a start says
 * where it does not.
 */
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { connect } from "../../lib/db/connect.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { atEnd } from "../support/cleanup.ts";
import { startOwnPostgres } from "../support/own-postgres.ts";
import { type Stack, startStack } from "../support/stack.ts";

/** Postgres' default of 100, without the three that are reserved for a superuser. */
const DEFAULT_LIMIT = 97;

const line = z.object({ msg: z.string(), sessions: z.number(), limit: z.number(), level: z.number() });

let chain: TestChain;
beforeAll(async () => {
  chain = await startChain();
});

/** What the process logged about its sessions when it started; warnings have level 40. */
const reports = (stack: Stack, service: "api" | "indexer" | "writer") =>
  waitFor({
    what: `the ${service} to count its sessions`,
    probe: () => {
      const found = stack
        .output(service)
        .split("\n")
        .filter((text) => text.includes('"sessions":'))
        .map((text) => line.parse(JSON.parse(text)));
      return found.length > 0 ? found : undefined;
    },
  });

test("two apis, two writers and an indexer fit the default of Postgres, and none opens more than it says", async () => {
  const stack = await startStack({ chain, redis: false });
  const { sql, close } = connect(stack.databaseUrl, { name: "test", max: 1 });
  atEnd(close);
  const [api, writer, indexer] = await Promise.all(
    (["api", "writer", "indexer"] as const).map(
      async (service) => (await reports(stack, service))[0]?.sessions ?? 0,
    ),
  );
  if (!api || !writer || !indexer) throw new Error("a process did not count its sessions");
  // As docs/operating.md states them: this stack has neither a testnet nor a key that signs prices.
  expect({ api, writer, indexer }).toEqual({ api: 17, writer: 23, indexer: 14 });
  expect(
    2 * api + 2 * writer + indexer,
    `api ${api}, writer ${writer}, indexer ${indexer}`,
  ).toBeLessThanOrEqual(DEFAULT_LIMIT);

  let answered = 0;
  const paths = ["/health", "/api/v1/stats/protocol", "/api/v1/bonds/marketplace", "/api/v1/policies"];
  const burst = Promise.all(
    Array.from({ length: 400 }, async (_, n) => {
      await stack.request(`${paths[n % paths.length]}?${"&".repeat(n)}`, {
        headers: { "x-api-key": `lk_${n}` },
      });
      answered += 1;
    }),
  );
  let most = 0;
  await waitFor({
    what: "all answers",
    probe: async () => {
      const [row] = await sql<{ n: number }[]>`
        select count(*)::int as n from pg_stat_activity
        where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`;
      most = Math.max(most, row?.n ?? 0);
      return answered === 400 || undefined;
    },
    intervalMs: 10,
  });
  await burst;
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThanOrEqual(api + writer + indexer);
  await stack.stop();
});

test("a writer that may need more sessions than Postgres has left says so at its start", async () => {
  const { databaseUrl } = await startOwnPostgres("small", { max_connections: 25 });
  const stack = await startStack({ chain, databaseUrl, redis: false, services: ["writer"] });
  const [figures, warning] = await waitFor({
    what: "the warning",
    probe: async () => {
      const found = await reports(stack, "writer");
      return found.length > 1 ? found : undefined;
    },
  });
  expect(figures).toMatchObject({ limit: 22, level: 30 });
  expect(warning).toMatchObject({ msg: expect.stringContaining("raise its max_connections"), level: 40 });
  await stack.stop();
});
