/** The whole service on a chain and a Postgres of its own, with buyers and subscribers. */

import { anvilAccount } from "../../../lib/chain/client.ts";
import { type Connection, connect } from "../../../lib/db/connect.ts";
import { privateKeyOf } from "../../../scripts/local/anvil.ts";
import { openProtocol, type Protocol, refreshFeeds } from "../../../scripts/local/protocol/actions/index.ts";
import { type Buyer, createBuyer } from "../../api/support/buyer.ts";
import { type Subscription, subscribe } from "../../fault/support/webhook-world.ts";
import { openRows, type Rows } from "../../src/support/rows.ts";
import type { TestChain } from "../../support/chain.ts";
import { atEnd } from "../../support/cleanup.ts";
import { type OwnPostgres, startOwnPostgres } from "../../support/own-postgres.ts";
import { ok, type ReplyRule, slow, startReceivers, status } from "../../support/receiver.ts";
import { type Stack, startStack } from "../../support/stack.ts";
import { type SoakNode, startNode } from "./node.ts";

export type SoakWorld = {
  readonly node: SoakNode;
  readonly chain: TestChain;
  readonly protocol: Protocol;
  readonly postgres: OwnPostgres;
  readonly stack: Stack;
  readonly connection: Connection;
  readonly rows: Rows;
  readonly buyers: readonly Buyer[];
  readonly subscriptions: readonly Subscription[];
};

export const BUYERS = 4;
const relayers = [anvilAccount(1), anvilAccount(2)];

/** Fails at some events' first attempts, answers others late, and a few after the service has given up. */
function unreliable(): ReplyRule {
  const known = new Set<string>();
  return (_n, { id }) => {
    if (known.has(id)) return ok;
    known.add(id);
    const draw = Number(`0x${id.slice(-4)}`) % 100;
    if (draw < 10) return status(500);
    if (draw < 15) return slow(2_000);
    return draw < 16 ? slow(11_000) : ok;
  };
}

export async function startSoakWorld(): Promise<SoakWorld> {
  const node = await startNode(relayers);
  const { chain } = node;
  const postgres = await startOwnPostgres("soak");
  const { databaseUrl } = postgres;
  const stack = await startStack({
    ...{ chain, databaseUrl, keeper: true, relayerKeys: relayers.map(privateKeyOf) },
    env: { writer: { CONFIRMATIONS: "3" } },
  });
  const connection = connect(databaseUrl, { name: "test" });
  const rows = openRows(databaseUrl);
  atEnd(async () => {
    await connection.close();
    await rows.close();
  });
  const protocol = openProtocol(chain.deployment, chain.url);
  await refreshFeeds(protocol, chain.owner);
  const buyers: Buyer[] = [];
  for (let n = 0; n < BUYERS; n += 1) {
    // Answers are not checked against the OpenAPI document: a killed api cannot serve it.
    buyers.push(await createBuyer({ chain, stack, protocol, request: stack.request }, anvilAccount(3 + n)));
  }
  const receivers = await startReceivers();
  const subscriptions: Subscription[] = [];
  const add = async (name: string, wallet: string, events: readonly string[], rule?: ReplyRule) =>
    subscriptions.push(await subscribe({ chain, stack }, receivers.at(name), wallet, events, rule));
  for (const [n, { account }] of buyers.entries()) {
    await add(`all-${n}`, account.address, ["*"], n === 0 ? undefined : unreliable());
  }
  await add("some", buyers[0]?.account.address ?? "", ["policy_due", "policy_triggered", "token_burned"]);
  return { node, chain, protocol, postgres, stack, connection, rows, buyers, subscriptions };
}
