/** Compares the statistics of each part of the protocol with the chain at the same block. */
import { expect } from "vitest";
import type { Row } from "../../src/support/rows.ts";
import type { CheckedRequest } from "../../support/openapi.ts";
import { big, type ChainState } from "./chain-state.ts";
import * as flows from "./expected-flows.ts";
import { buyers, holders } from "./expected-holders.ts";
import { burnStats } from "./expected-stats.ts";
import * as vault from "./expected-vault.ts";
import { byPosition, expectFeed, type Feed } from "./pages.ts";

type Reader = { readonly request: CheckedRequest; readonly chainState: ChainState };

const HALF_DAY = 43_200n;

async function expectBodies({ request, chainState }: Reader): Promise<void> {
  const { events, now, block } = chainState;
  // From the middle of a day: its whole day counts.
  const middle = big(events[Math.floor(events.length / 2)]?.position.block_timestamp ?? now);
  const period = { from: middle, to: now + HALF_DAY > middle ? now + HALF_DAY : middle + HALF_DAY };
  const { from, to } = period;
  for (const [path, body] of [
    ["vault", vault.vaultStats(chainState)],
    ["bonds/maturities", vault.maturities(chainState)],
    ["market", flows.market(chainState)],
    [`market?from=${from}&to=${to}`, flows.market(chainState, period)],
    [`market?to=${middle}`, flows.market(chainState, { to: middle })],
    [`burns?from=${from}&to=${to}`, burnStats(chainState, period)],
    [`burns?to=${middle}`, burnStats(chainState, { to: middle })],
    ["burners", flows.burners(chainState)],
    [`burners?from=${from}&to=${to}`, flows.burners(chainState, period)],
    ["prices", flows.prices(chainState)],
  ] as const) {
    const answer = await request(`/api/v1/stats/${path}`);
    expect(answer.headers.get("x-indexed-block"), path).toBe(String(block));
    expect(answer.json, path).toEqual(body);
  }
}

type Listed = { readonly rows: readonly Row[]; readonly rest: Row };

function lists({ request, chainState }: Reader): Feed[] {
  const { events, block } = chainState;
  const list = (
    path: string,
    rows: string,
    { rows: expected, rest }: Listed,
    cursor: (last: Row) => string | null,
    more: Partial<Feed> = {},
  ): Feed => ({
    request,
    path: `/api/v1/stats/${path}`,
    rows,
    expected,
    limit: 2,
    ways: ["cursor"],
    check: ({ headers }) => expect(headers.get("x-indexed-block"), path).toBe(String(block)),
    rest: ({ count, last }) => ({ count, next_cursor: last ? cursor(last) : null, ...rest }),
    ...more,
  });
  const queue = vault.queue(chainState);
  const queuedAt = big(queue.entries[Math.floor(queue.entries.length / 2)]?.block_timestamp ?? 0);
  const byId = ({ queue_id }: Row) => String(queue_id);
  const queueOf = (query: Readonly<Record<string, string>>, isListed: (time: bigint) => boolean) =>
    list(
      "queue",
      "entries",
      { ...queue, rows: queue.entries.filter(({ block_timestamp }) => isListed(big(block_timestamp))) },
      byId,
      { query },
    );
  const ofHolder = ({ holder, bonds_usd }: Row) => `${bonds_usd}-${String(holder).toLowerCase()}`;
  const pauses = flows.pauses(chainState);
  const begun = events
    .filter(({ name }) => name === "Paused")
    .map(({ position }) => position.block_timestamp);
  const from = begun[Math.floor(begun.length / 2)];
  const later = pauses.rows.filter(({ started_at }) => big(started_at) >= big(from ?? 0));
  return [
    queueOf({}, () => true),
    queueOf({ from: String(queuedAt) }, (time) => time >= queuedAt),
    queueOf({ to: String(queuedAt + 1n) }, (time) => time <= queuedAt),
    queueOf({ from: String(queuedAt), to: String(queuedAt + 1n) }, (time) => time === queuedAt),
    list("holders", "holders", holders(chainState), ofHolder),
    ...[...chainState.supplies.keys(), "190001"].map((epoch) =>
      list("holders", "holders", holders(chainState, epoch), ofHolder, { query: { epoch } }),
    ),
    list(
      "buyers",
      "buyers",
      buyers(chainState),
      (row) => `${row.coverage_usdc}-${String(row.buyer).toLowerCase()}`,
    ),
    list("pauses", "pauses", pauses, byPosition, { ways: ["cursor", "offset"] }),
    ...(from === undefined
      ? []
      : [list("pauses", "pauses", { ...pauses, rows: later }, byPosition, { query: { from } })]),
  ];
}

/** Expects these answers to match the chain. The index must have reached the block of `chainState`. */
export async function expectStats(request: CheckedRequest, chainState: ChainState): Promise<void> {
  const reader = { request, chainState };
  await expectBodies(reader);
  for (const feed of lists(reader)) await expectFeed(feed);
}
