/** Valid purchases that fail because of the chain, a server, the operator's stop, a limit or a timeout. */
import { isHex, parseTransaction } from "viem";
import { expect } from "vitest";
import {
  latestRound,
  pushPrice,
  refreshFeeds,
  setRelayer,
  setRouterPaused,
} from "../../../scripts/local/protocol/actions/index.ts";
import { mineEverySecond, mineNothing } from "../../support/chain.ts";
import type { HttpAnswer } from "../../support/http.ts";
import { setSequencer } from "../../support/protocol-actions.ts";
import type { Interceptor } from "../../support/rpc-proxy.ts";
import { failure, issueKey } from "./api.ts";
import type { Buyer } from "./buyer.ts";
import { bodyOf, changeChain, newKey, POLICIES, type PurchaseCase, setAllowance } from "./purchase-case.ts";
import type { PurchaseSetup } from "./purchase-setup.ts";

const isPurchase = (bytes: unknown) => isHex(bytes) && parseTransaction(bytes).data !== undefined;
/** A node that drops the raw transactions of purchases and forwards every other call. */
const dropPurchases: Interceptor = async (call, forward) =>
  call.method === "eth_sendRawTransaction" && isPurchase(call.params[0]) ? "lost" : forward();

/** Buys, and revokes the allowance between signature and block. */
async function revertInBlock(setup: PurchaseSetup, buyer: Buyer): Promise<HttpAnswer> {
  await setAllowance(setup, buyer);
  let revocation: Promise<unknown> | undefined;
  setup.writerNode.intercept(async (call, forward) => {
    if (call.method === "eth_sendRawTransaction") {
      revocation ??= setAllowance(setup, buyer, 0n);
      await revocation;
    }
    return forward();
  });
  return buyer.buy({}, newKey());
}

const stop = ({ connection }: PurchaseSetup, scope: string, subject: string) =>
  connection.sql`insert into service.stop (scope, subject, reason) values (${scope}, ${subject}, 'test')`;
const resume = ({ connection }: PurchaseSetup) => connection.sql`truncate service.stop`;

export const failed: PurchaseCase[] = [
  {
    name: "an allowance that does not cover the premium",
    status: 502,
    code: "onchain_revert",
    async send(setup, buyer) {
      await setAllowance(setup, buyer, 291_999n);
      return buyer.buy();
    },
  },
  {
    name: "a purchase after three of the buyer's purchases reverted in their blocks",
    status: 429,
    code: "purchases_paused",
    async send(setup, buyer) {
      for (let n = 0; n < 3; n += 1) {
        const reverted = await revertInBlock(setup, buyer);
        expect(failure(reverted)).toEqual([502, "onchain_revert"]);
        expect(reverted.headers.get("retry-after")).toBeNull();
      }
      await setAllowance(setup, buyer);
      return buyer.buy();
    },
  },
  {
    name: "a wallet that has used up its daily gas budget",
    status: 429,
    code: "gas_budget_exceeded",
    async send({ chain, connection }, buyer) {
      await connection.sql`
        insert into service.gas_day (chain_id, day, wallet, sender, wei)
        values (${chain.deployment.chainId}, (now() at time zone 'utc')::date,
          ${buyer.account.address.toLowerCase()}, '', ${String(10n ** 25n)})`;
      return buyer.buy();
    },
  },
  {
    name: "a database table with a wrong column name",
    status: 500,
    code: "internal_error",
    async send(setup, buyer) {
      await setup.connection.sql`alter table service.purchase rename column quoted_premium to misnamed`;
      return buyer.buy();
    },
    restore: (setup) =>
      setup.connection.sql`alter table service.purchase rename column misnamed to quoted_premium`,
  },
  {
    name: "a deployment file that lacks a contract",
    status: 500,
    code: "health_contracts_incomplete",
    send: (setup, buyer) =>
      setup.incompleteDeployment.request(POLICIES, { headers: buyer.headers, body: bodyOf(buyer) }),
  },
  {
    name: "an unreachable node",
    status: 503,
    code: "chain_not_found",
    async send(setup, buyer) {
      setup.apiNode.intercept(async () => "lost");
      await setup.waitForCacheExpiry();
      return buyer.buy();
    },
  },
  {
    name: "contracts of another release",
    status: 500,
    code: "contract_mismatch",
    async send(setup, buyer) {
      setup.apiNode.intercept(async ({ method }, forward) =>
        method === "eth_call" ? { result: "0x" } : forward(),
      );
      await setup.waitForCacheExpiry();
      return buyer.buy();
    },
  },
  {
    name: "an unreachable database",
    status: 503,
    code: "database_unavailable",
    async send(setup, buyer) {
      await setup.database.cut();
      return buyer.buy();
    },
    restore: (setup) => setup.database.mend(),
  },
  {
    name: "a paused router",
    status: 503,
    code: "contract_paused",
    send: changeChain((setup) => setRouterPaused(setup.protocol, setup.chain.owner, true)),
    restore: (setup) => setRouterPaused(setup.protocol, setup.chain.owner, false),
  },
  {
    name: "a price that is two hours old",
    status: 503,
    code: "oracle_stale",
    send: changeChain(async (setup) => {
      const { price } = await latestRound(setup.protocol, "BTC");
      const { timestamp } = await setup.chain.client.getBlock();
      await pushPrice(setup.protocol, setup.chain.owner, "BTC", price, timestamp - 7200n);
    }),
    restore: (setup) => refreshFeeds(setup.protocol, setup.chain.owner),
  },
  {
    name: "a purchase that no block includes before its deadline",
    status: 503,
    code: "purchase_expired",
    async send(setup, buyer) {
      setup.writerNode.intercept(dropPurchases);
      return buyer.buy();
    },
  },
  {
    name: "a stop of its key by the operator",
    status: 503,
    code: "purchases_stopped",
    async send(setup, { account }) {
      const { keyId, headers } = await issueKey(setup.request, account.address);
      await stop(setup, "key", String(keyId));
      return setup.request(POLICIES, { headers, body: bodyOf({ account }) });
    },
    restore: resume,
  },
  {
    name: "a relayer that is not on the allowlist",
    status: 503,
    code: "relayer_unauthorized",
    send: changeChain((setup) =>
      setRelayer(setup.protocol, setup.chain.owner, setup.chain.relayer.address, false),
    ),
    restore: (setup) => setRelayer(setup.protocol, setup.chain.owner, setup.chain.relayer.address, true),
  },
  {
    name: "no running writer",
    status: 503,
    code: "relayer_unavailable",
    send: changeChain((setup) => setup.stack.stopService("writer")),
    restore: (setup) => setup.stack.start("writer"),
  },
  {
    name: "a sequencer that is down",
    status: 503,
    code: "sequencer_down",
    send: changeChain((setup) =>
      setSequencer(setup.protocol, setup.chain.owner, { down: true, startedAt: 0n }),
    ),
    restore: (setup) => setSequencer(setup.protocol, setup.chain.owner, { down: false, startedAt: 1n }),
  },
  // The last one: from now on transactions wait for the block of a second.
  {
    name: "a purchase that is still pending when the wait ends",
    status: 503,
    code: "purchase_pending",
    async send(setup, buyer) {
      await mineNothing(setup.chain);
      return setup.strict.request(POLICIES, { headers: buyer.headers, body: bodyOf(buyer) });
    },
    restore: ({ chain }) => mineEverySecond(chain),
  },
];
