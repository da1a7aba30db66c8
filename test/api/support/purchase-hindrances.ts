/** Purchases that are in order, and are hindered by the chain, by a server, by the operator or by their own end. */
import { isHex, parseTransaction } from "viem";
import { expect } from "vitest";
import {
  latestRound,
  pushPrice,
  refreshFeeds,
  setGlobalPause,
  setRelayer,
  setRouterPaused,
  setSequencer,
} from "../../../scripts/local/protocol/actions/index.ts";
import type { HttpAnswer } from "../../support/http.ts";
import type { Interceptor } from "../../support/rpc-proxy.ts";
import { failure, issueKey } from "./api.ts";
import { type Buyer, keyHolder } from "./buyer.ts";
import { allowance, bodyOf, newKey, PATH, type Row, withChain } from "./purchase-row.ts";
import type { PurchaseWorld } from "./purchase-world.ts";

const isPurchase = (bytes: unknown) => isHex(bytes) && parseTransaction(bytes).data !== undefined;
/** A node that loses the bytes of purchases and takes everything else. */
const losesPurchases: Interceptor = async (call, forward) =>
  call.method === "eth_sendRawTransaction" && isPurchase(call.params[0]) ? "lost" : forward();

/** A purchase whose allowance is taken back between its signature and its block. */
async function revertInBlock(world: PurchaseWorld, buyer: Buyer): Promise<HttpAnswer> {
  await allowance(world, buyer);
  world.writerNode.intercept(async (call, forward) => {
    if (call.method === "eth_sendRawTransaction") {
      world.writerNode.intercept();
      await allowance(world, buyer, 0n);
    }
    return forward();
  });
  return buyer.buy({}, newKey());
}

const stop = ({ connection }: PurchaseWorld, scope: string, subject: string) =>
  connection.sql`insert into service.stop (scope, subject, reason) values (${scope}, ${subject}, 'test')`;
const resume = ({ connection }: PurchaseWorld) => connection.sql`truncate service.stop`;

export const hindered: Row[] = [
  {
    what: "an allowance that does not cover the premium",
    status: 502,
    code: "onchain_revert",
    async reach(world, buyer) {
      await allowance(world, buyer, 291_999n);
      return buyer.buy();
    },
  },
  {
    what: "a revert in a block",
    status: 502,
    code: "onchain_revert",
    reach: revertInBlock,
  },
  {
    what: "a fourth purchase after three that reverted",
    status: 429,
    code: "purchases_paused",
    async reach(world, buyer) {
      for (let n = 0; n < 3; n += 1) {
        expect(failure(await revertInBlock(world, buyer))).toEqual([502, "onchain_revert"]);
      }
      await allowance(world, buyer);
      return buyer.buy();
    },
  },
  {
    what: "a wallet whose gas of the day is spent",
    status: 429,
    code: "gas_budget_exceeded",
    async reach(world, { account }) {
      return (await keyHolder(world.stingy, account)).buy();
    },
  },
  {
    what: "a table that is not what it should be",
    status: 500,
    code: "internal_error",
    async reach(world, buyer) {
      await world.connection.sql`alter table service.purchase rename column quoted_premium to misnamed`;
      return buyer.buy();
    },
    after: (world) =>
      world.connection.sql`alter table service.purchase rename column misnamed to quoted_premium`,
  },
  {
    what: "a deployment file that lacks a contract",
    status: 500,
    code: "health_contracts_incomplete",
    reach: (world, buyer) => world.incomplete.request(PATH, { headers: buyer.headers, body: bodyOf(buyer) }),
  },
  {
    what: "a node that does not answer",
    status: 503,
    code: "chain_not_found",
    async reach(world, buyer) {
      world.apiNode.intercept(async () => "lost");
      await world.forgotten();
      return buyer.buy();
    },
  },
  {
    what: "a database that is away",
    status: 503,
    code: "database_unavailable",
    async reach(world, buyer) {
      await world.database.cut();
      return buyer.buy();
    },
    after: (world) => world.database.mend(),
  },
  {
    what: "a paused router",
    status: 503,
    code: "contract_paused",
    reach: withChain((world) => setRouterPaused(world.protocol, world.chain.owner, true)),
    after: (world) => setRouterPaused(world.protocol, world.chain.owner, false),
  },
  {
    what: "a paused protocol",
    status: 503,
    code: "contract_paused",
    reach: withChain((world) => setGlobalPause(world.protocol, world.chain.owner, true)),
    after: (world) => setGlobalPause(world.protocol, world.chain.owner, false),
  },
  {
    what: "a price that is two hours old",
    status: 503,
    code: "oracle_stale",
    reach: withChain(async (world) => {
      const { price } = await latestRound(world.protocol, "BTC");
      const { timestamp } = await world.chain.client.getBlock();
      await pushPrice(world.protocol, world.chain.owner, "BTC", price, timestamp - 7200n);
    }),
    after: (world) => refreshFeeds(world.protocol, world.chain.owner),
  },
  {
    what: "a purchase that no block takes in time",
    status: 503,
    code: "purchase_expired",
    async reach(world, buyer) {
      world.writerNode.intercept(losesPurchases);
      return buyer.buy();
    },
  },
  {
    what: "a purchase that outlasts the wait",
    status: 503,
    code: "purchase_pending",
    async reach(world, buyer) {
      world.writerNode.intercept(losesPurchases);
      return world.strict.request(PATH, { headers: buyer.headers, body: bodyOf(buyer) });
    },
  },
  ...(["global", "wallet", "key"] as const).map(
    (scope): Row => ({
      what: `a stop by the operator: ${scope}`,
      status: 503,
      code: "purchases_stopped",
      async reach(world, { account }) {
        const { keyId, headers } = await issueKey(world.request, account.address);
        const subject = { global: "", wallet: account.address.toLowerCase(), key: String(keyId) }[scope];
        await stop(world, scope, subject);
        return world.request(PATH, {
          headers,
          body: bodyOf({ account }),
        });
      },
      after: resume,
    }),
  ),
  {
    what: "a relayer that is not on the allowlist",
    status: 503,
    code: "relayer_unauthorized",
    reach: withChain((world) =>
      setRelayer(world.protocol, world.chain.owner, world.chain.relayer.address, false),
    ),
    after: (world) => setRelayer(world.protocol, world.chain.owner, world.chain.relayer.address, true),
  },
  {
    what: "no writer",
    status: 503,
    code: "relayer_unavailable",
    reach: withChain((world) => world.stack.stopService("writer")),
    after: (world) => world.stack.start("writer"),
  },
  {
    what: "a sequencer that is down",
    status: 503,
    code: "sequencer_down",
    reach: withChain((world) =>
      setSequencer(world.protocol, world.chain.owner, { down: true, startedAt: 0n }),
    ),
    after: (world) => setSequencer(world.protocol, world.chain.owner, { down: false, startedAt: 1n }),
  },
];
