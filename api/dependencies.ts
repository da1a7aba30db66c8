import type { ReadClient } from "../lib/chain/client.ts";
import type { Connection } from "../lib/db/connect.ts";
import type { Contracts, Deployment, IncompleteDeployment } from "../lib/deployments.ts";
import { ApiError } from "../lib/errors.ts";
import type { PurchaseWaiter } from "../lib/ledger/wait.ts";
import type { Logger } from "../lib/log.ts";
import type { PurchaseQueue, TestnetQueue, WebhookQueue } from "../lib/queues.ts";
import type { ScanClients } from "./chain/scan-clients.ts";
import type { Signatures } from "./chain/signatures.ts";
import type { ClaimWaiter } from "./faucet/waiter.ts";
import type { StandingHeaders } from "./http/common-headers.ts";
import type { Limits } from "./http/limits/limits.ts";
import type { ClientOf } from "./http/limits/middleware.ts";
import type { FindHolder } from "./keys/store.ts";
import type { Targets } from "./webhooks/targets.ts";

/** Where sandbox and faucet work. */
export type Testnet = {
  readonly deployment: Deployment;
  /** Reads of the testnet; bounded in time like those of the main chain. */
  readonly chain: ReadClient;
  readonly queue: TestnetQueue;
  /** Waits for claims to the faucet. */
  readonly claims: ClaimWaiter;
};

/** All that the API works with; plain values and clients, so that a test can build any variant. */
export type Dependencies = {
  readonly log: Logger;
  readonly deployment: Deployment | IncompleteDeployment;
  /** Reads of the main chain; its time-outs bound how long an answer can wait. */
  readonly chain: ReadClient;
  /** The same chain for live scans. */
  readonly live: ScanClients;
  /** Checks of signatures, with a way to the chain of their own. */
  readonly signatures: Signatures;
  readonly connection: Connection;
  /** Whose an API key is. */
  readonly findHolder: FindHolder;
  /** For reads of the index, each transaction of which sees one moment. */
  readonly indexConnection: Connection;
  /** Postgres schema of the indexer's views. */
  readonly viewsSchema: string;
  readonly adminToken: string;
  readonly limits: Limits;
  /** Names a request's client for the limits. */
  readonly clientOf: ClientOf;
  /** What stands on every answer; the server sets it. */
  readonly standing: StandingHeaders;
  /** How long a purchase waits for its transaction to be mined, in ms. */
  readonly purchaseWaitMs: number;
  readonly queue: PurchaseQueue;
  readonly waiter: PurchaseWaiter;
  readonly webhooks: {
    readonly queue: WebhookQueue;
    /** Where they may lead. */
    readonly targets: Targets;
    /** What seals their secrets: 64 hex digits. */
    readonly secretsKey: string;
  };
  /** Undefined where none is configured: then there is neither sandbox nor faucet. */
  readonly testnet: Testnet | undefined;
  /** Where clients reach the API, without a slash at its end; undefined where the request has to tell. */
  readonly publicUrl: string | undefined;
  /** Aborted when the process is asked to stop: answers that would wait long are then given early. */
  readonly stopping: AbortSignal;
};

/** Names the contracts that a deployment file lacks. @throws ApiError `health_contracts_incomplete` */
export function contractsOf(deployment: Deployment | IncompleteDeployment): Contracts {
  if (!("missing" in deployment)) return deployment.contracts;
  throw new ApiError(
    "health_contracts_incomplete",
    `The deployment lacks the address of: ${deployment.missing.join(", ")}`,
  );
}
