import type { Address } from "viem";
import { valueWithin } from "../../lib/timeout.ts";
import type { ChainReads } from "../chain/chain-reads.ts";
import { scanHoldings } from "../chain/contracts/holdings.ts";
import { readWithdrawable } from "../chain/contracts/market.ts";
import type { LiveScans } from "../chain/live-scans.ts";
import { answerFromOneBlock } from "../chain/one-block.ts";
import type { RequireApiKey } from "../http/credentials.ts";
import type { Api } from "../http/env.ts";
import { type ClientOf, clientName } from "../http/limits/middleware.ts";
import { pageRows } from "../indexed/feed.ts";
import type { IndexReader } from "../indexed/reader.ts";
import type { IndexedResponses } from "../indexed/responses.ts";
import { bondListBody, type WalletBondPage, walletBondsBody } from "./body.ts";
import { prepareHoldings, withdrawableIn } from "./queries.ts";
import { bondsByOwnerRoute, liveBondsRoute, walletBondsRoute } from "./routes.ts";

type Query = { address: Address; limit: number; offset: number };

/** Longest wait for the vault's price, in ms; without it the bonds are shown without their worth in tokens. */
const PRICE_TIMEOUT_MS = 1500;

export type BondParts = {
  readonly chain: ChainReads;
  readonly apiKey: RequireApiKey;
  readonly index: IndexReader;
  readonly responses: IndexedResponses;
  readonly liveScans: LiveScans;
  readonly clientOf: ClientOf;
};

/** An owner's bonds, from the index or by a live scan. */
export function addBondRoutes(app: Api, parts: BondParts): void {
  const { index, responses, liveScans, clientOf, chain, apiKey } = parts;
  const holdingsOf = index.prepare(prepareHoldings);
  const byOwner = responses.define(
    ({ address }: Query) => holdingsOf(address),
    (found, { address, ...page }, { timestamp }) => {
      const holdings = pageRows(found).filter(({ amount }) => amount > 0n);
      return bondListBody(address, { holdings, withdrawable: withdrawableIn(found) }, page, timestamp);
    },
  );
  app.openapi(bondsByOwnerRoute, async (c) =>
    responses.send(c, await byOwner({ ...c.req.valid("param"), ...c.req.valid("query") }), bondsByOwnerRoute),
  );

  const walletBonds = responses.define(
    ({ wallet }: WalletBondPage & { wallet: Address }) => holdingsOf(wallet),
    async (found, { wallet, ...page }, { timestamp }) => {
      const price = (await valueWithin(PRICE_TIMEOUT_MS, chain.redemptionPrice())) ?? null;
      const position = { holdings: pageRows(found), withdrawable: withdrawableIn(found) };
      return walletBondsBody(wallet, position, page, { now: timestamp, price });
    },
  );
  app.openapi({ ...walletBondsRoute, middleware: [apiKey("read")] as const }, async (c) =>
    responses.sendPrivately(c, await walletBonds({ ...c.req.valid("param"), ...c.req.valid("query") })),
  );

  const { reader, reads } = liveScans;
  const contracts = () => liveScans.protocol().contracts;
  const positions = liveScans.share(async (logs, wallet, range) => {
    const [holdings, withdrawable] = await Promise.all([
      scanHoldings(logs, reads, contracts(), wallet, range),
      readWithdrawable(reads, contracts(), wallet, range.to),
    ]);
    return { holdings, withdrawable };
  });
  app.openapi(liveBondsRoute, async (c) => {
    const { wallet } = c.req.valid("param");
    const page = c.req.valid("query");
    const question = { wallet, client: clientName(c, clientOf) };
    c.header("Cache-Control", "no-store");
    const { block, body } = await answerFromOneBlock(
      reader,
      positions,
      question,
      async (found, { timestamp }) => bondListBody(wallet, found, page, timestamp),
    );
    c.header("x-chain-block", String(block.number));
    return c.json(body, 200);
  });
}
