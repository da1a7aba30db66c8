import { connect } from "../../lib/db/connect.ts";
import { listenTo } from "../../lib/db/listen.ts";
import type { Deployment } from "../../lib/deployments.ts";
import type { Logger } from "../../lib/log.ts";
import { assetSymbols } from "../../lib/products.ts";
import type { DeployedChain } from "../common/chains.ts";
import { startLoop } from "../common/loop.ts";
import type { Key } from "../relayer/signer.ts";
import { priceSigner } from "./price-signer.ts";
import { noteSigner, pendingRequests, pruneRequests, storeAnswer } from "./requests.ts";
import { type OracleContext, signPrice } from "./sign-price.ts";

/** Postgres channel on which a trigger announces requests. */
const REQUEST_CHANNEL = "service_price_request";
/** How often requests are looked for whose announcement was lost, in ms. */
const SWEEP_MS = 1000;
/** How often the signer is published and old requests are pruned, in ms. */
const UPKEEP_MS = 2000;
/** Connections to Postgres: the statements of both loops are short. */
const CONNECTIONS = 1;

export type OracleOptions = DeployedChain & {
  readonly oracle: NonNullable<Deployment["oracle"]>;
  readonly key: Key;
  readonly databaseUrl: string;
  readonly log: Logger;
};

/**
 * Starts to answer the api's requests for signed prices. Requests for one asset that wait together share a signature, of a
 * price that is read after the last of them. A writer that dies before it has stored its answer leaves them to the next one;
 * several writers may sign for the same request, of which the first answer counts, and a writer without the chain, or without an
 * answer of the signer that has its key, leaves them to the others.
 */
export function startOracle({ oracle, deployment, chain, key, databaseUrl, log }: OracleOptions) {
  const { chainId } = deployment;
  const { sql, close } = connect(databaseUrl, { name: "writer-oracle", max: CONNECTIONS });
  const signer = priceSigner(key);
  const context: OracleContext = { client: chain.client, deployment, oracle, signer, log };

  async function answerRequests(): Promise<void> {
    const pending = await pendingRequests(sql, chainId);
    const ofAssets = assetSymbols.map((asset) => ({
      asset,
      requests: pending.filter((request) => request.asset === asset),
    }));
    await Promise.all(
      ofAssets
        .filter(({ requests }) => requests.length > 0)
        .map(async ({ asset, requests }) => storeAnswer(sql, requests, await signPrice(context, asset))),
    );
  }

  const answering = startLoop({
    name: "signing prices",
    log,
    pauseMs: () => SWEEP_MS,
    round: answerRequests,
  });
  const upkeep = startLoop({
    name: "publishing the oracle's signer",
    log,
    pauseMs: () => UPKEEP_MS,
    async round() {
      await noteSigner(sql, chainId, signer.address);
      await pruneRequests(sql);
    },
  });
  const listener = listenTo(databaseUrl, {
    name: "writer-oracle-requests",
    channel: REQUEST_CHANNEL,
    onNotification: answering.nudge,
    onStart: answering.nudge,
  });
  return {
    async stop(): Promise<void> {
      await Promise.all([listener.close(), answering.stop(), upkeep.stop()]);
      await close();
    },
  };
}
