import { type Address, getAddress } from "viem";
import type { ReadClient } from "../../lib/chain/client.ts";
import type { Deployment, IncompleteDeployment } from "../../lib/deployments.ts";
import { ApiError } from "../../lib/errors.ts";
import { abandonedWallets } from "../../lib/ledger/in-flight.ts";
import { liveRelayers, roleWallet } from "../../lib/ledger/relayers.ts";
import { unknownNonces } from "../../lib/ledger/unknown-nonces.ts";
import { errorText } from "../../lib/log.ts";
import { shareRead } from "../../lib/shared-read.ts";
import { within } from "../../lib/timeout.ts";
import { webhookFigures } from "../../lib/webhooks/figures.ts";
import type { PurchaseMode } from "../buying/purchase-mode.ts";
import type { ChainReads } from "../chain/chain-reads.ts";
import { contractsOf } from "../chain/contract-addresses.ts";
import { API_VERSION } from "../http/api-version.ts";
import { chainNotFound, databaseUnavailable, fromChain, fromDatabase } from "../http/dependency-timeout.ts";
import type { IndexReaderParts } from "../indexed/reader.ts";
import { indexerStatus, LAG_LIMIT, readIndexPosition } from "../indexed/status.ts";
import type { HealthBody } from "./routes.ts";

/** How long probes are shared, in ms: anybody may call the health check, and it must not become a load. */
const PROBE_TTL_MS = 1000;
/** A dependency that takes longer counts as down, in ms. */
const PROBE_TIMEOUT_MS = 2500;

type Reason = HealthBody["reasons"][number];
/** A probe's value, or the reason for its failure. */
type Probe<T> = { value: T; reason?: undefined } | { value: undefined; reason: Reason };

async function probe<T>(read: () => Promise<T>, late: () => ApiError): Promise<Probe<T>> {
  try {
    return { value: await within(PROBE_TIMEOUT_MS, read(), late) };
  } catch (error) {
    const { code, message } =
      error instanceof ApiError ? error : new ApiError("internal_error", errorText(error));
    return { value: undefined, reason: { code, message } };
  }
}

export type HealthParts = IndexReaderParts & {
  readonly deployment: Deployment | IncompleteDeployment;
  readonly client: ReadClient;
  readonly chain: ChainReads;
  readonly purchaseMode: PurchaseMode;
};

async function readBalance({ client }: HealthParts, address: Address) {
  const balance = await probe(() => fromChain(() => client.getBalance({ address })), chainNotFound);
  return { address, balanceWei: balance.value === undefined ? null : String(balance.value) };
}

async function probeAll(parts: HealthParts) {
  const { client, chain, connection, deployment } = parts;
  const relayers = probe(
    () => fromDatabase(() => liveRelayers(connection.sql, deployment.chainId)),
    databaseUnavailable,
  );
  const [chainId, head, live, keeper, unknown, abandoned, position, webhooks] = await Promise.all([
    probe(() => fromChain(() => client.getChainId()), chainNotFound),
    probe(chain.recentHead, chainNotFound),
    relayers,
    probe(
      () => fromDatabase(() => roleWallet(connection.sql, deployment.chainId, "keeper")),
      databaseUnavailable,
    ),
    probe(() => fromDatabase(() => unknownNonces(connection.sql, deployment.chainId)), databaseUnavailable),
    probe(
      () => fromDatabase(() => abandonedWallets(connection.sql, deployment.chainId)),
      databaseUnavailable,
    ),
    probe(() => readIndexPosition(parts), databaseUnavailable),
    // Not a reason by itself: the other reads tell whether the database answers, and counting a long backlog may take longer.
    probe(() => fromDatabase(() => webhookFigures(connection.sql, deployment.chainId)), databaseUnavailable),
  ]);
  const addresses = (live.value ?? []).map(({ address }) => address);
  const readBalances = (wallets: readonly Address[]) =>
    head.reason
      ? wallets.map((address) => ({ address, balanceWei: null })) // the node is down: do not wait for it again
      : Promise.all(wallets.map((address) => readBalance(parts, address)));
  const [balances, [keeperBalance], selling] = await Promise.all([
    readBalances(addresses),
    readBalances(keeper.value?.alive ? [keeper.value.address] : []),
    head.reason || addresses.length === 0 ? undefined : probe(() => chain.selling(addresses), chainNotFound),
  ]);
  return {
    chainId,
    head,
    live,
    keeper,
    unknown,
    abandoned,
    position,
    webhooks,
    balances,
    keeperBalance,
    selling,
  };
}

type Probes = Awaited<ReturnType<typeof probeAll>>;

/** Why the keeper sends nothing; undefined when it does, and where none has been at work within the last hour. */
function keeperFault({ keeper }: Probes): string | undefined {
  if (!keeper.value) return undefined;
  const { alive, stopped, fault } = keeper.value;
  if (!alive) return "no writer sends from its wallet.";
  return stopped ? "the operator has stopped it." : (fault ?? undefined);
}

function findReasons(probes: Probes, { deployment, purchaseMode }: HealthParts): Reason[] {
  const { chainId, head, live, unknown, abandoned, position, selling } = probes;
  const reasons: Reason[] = [];
  const add = (code: string, message: string) => reasons.push({ code, message });
  const unreachable = chainId.reason ?? head.reason;
  if (unreachable) reasons.push(unreachable);
  if (chainId.value !== undefined && chainId.value !== deployment.chainId) {
    add("wrong_chain", `The node serves chain ${chainId.value}, the deployment is on ${deployment.chainId}.`);
  }
  if (live.reason) reasons.push(live.reason);
  else if (purchaseMode === "relayed" && live.value.length === 0)
    add("relayer_unavailable", "No writer is running: purchases cannot be sent.");
  else if (selling?.value && !selling.value.relayers.some(({ authorized }) => authorized))
    add("relayer_unauthorized", "No relayer is on the cover router's allowlist: purchases cannot be sent.");
  const keeper = keeperFault(probes);
  if (keeper !== undefined) {
    add("keeper_unavailable", `The keeper triggers no policies now: ${keeper}`);
  }
  const wallets = new Set(unknown.value?.map(({ wallet }) => getAddress(wallet)));
  if (wallets.size > 0) {
    add(
      "transactions_unknown",
      `The chain has transactions of ${[...wallets].join(", ")} that the ledger lacks: no purchase is sent until they are reconciled.`,
    );
  }
  // Without any writer, relayer_unavailable covers it.
  const idle = live.value?.length ? (abandoned.value ?? []) : [];
  if (idle.length > 0) {
    add(
      "wallets_abandoned",
      `No writer sends from ${idle.map(({ wallet }) => getAddress(wallet)).join(", ")}: the open transactions of these wallets wait.`,
    );
  }
  if (position.reason && position.reason.code !== live.reason?.code) reasons.push(position.reason);
  if (!position.reason && head.value) {
    const { condition, lagBlocks } = indexerStatus(position.value, head.value);
    if (condition === "down") add("indexer_down", "The indexer sends no heartbeat.");
    if (condition === "backfilling")
      add("indexer_syncing", "The indexer is still reading the chain's history.");
    if (condition === "catching_up")
      add(
        "indexer_lagging",
        "The indexer has started anew: until it has caught up, reads describe the block before.",
      );
    if (condition === "behind")
      add("indexer_lagging", `The index is ${lagBlocks} blocks behind; up to ${LAG_LIMIT} are normal.`);
  }
  return reasons;
}

/** Makes the reader of `GET /health`; it rejects only with `health_contracts_incomplete`. */
export function createHealth(parts: HealthParts): () => Promise<HealthBody> {
  const { deployment } = parts;
  const begun = performance.now();
  const probes = shareRead(PROBE_TTL_MS, () => probeAll(parts));
  return async () => {
    const contracts = contractsOf(deployment);
    const found = await probes();
    const reasons = findReasons(found, parts);
    const { chainId, head, balances, keeperBalance = null, webhooks } = found;
    return {
      status: reasons.length === 0 ? "ok" : "degraded",
      reasons,
      service: "parametric-cover-service",
      version: API_VERSION,
      release: deployment.release,
      purchases: parts.purchaseMode,
      uptimeSeconds: Math.floor((performance.now() - begun) / 1000),
      chain: {
        chainId: deployment.chainId,
        name: deployment.name,
        block: head.value ? String(head.value.number) : null,
        rpcConnected: chainId.value !== undefined,
        explorerUrl: deployment.explorerUrl,
      },
      relayer: balances[0] ?? null,
      relayers: balances,
      keeper: keeperBalance,
      webhooks: webhooks.value
        ? { pending: webhooks.value.pending, oldestDueSeconds: webhooks.value.oldest }
        : null,
      contracts: { ...contracts, luminaToken: contracts.protocolToken },
    };
  };
}
