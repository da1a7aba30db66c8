import type { Address } from "viem";
import { ApiError } from "../../lib/errors.ts";
import { liveRelayers } from "../../lib/ledger/relayers.ts";
import { errorText } from "../../lib/log.ts";
import { shareRead } from "../../lib/shared-read.ts";
import { within } from "../../lib/within.ts";
import { contractsOf, type Dependencies } from "../dependencies.ts";
import { API_VERSION } from "../explorer/document.ts";
import { chainNotFound, databaseUnavailable, fromChain, fromDatabase } from "../http/dependency-timeout.ts";
import { indexerStatus, LAG_LIMIT, readIndexPosition } from "../index/status.ts";
import type { Readers } from "../readers.ts";
import type { HealthBody } from "./routes.ts";

/** Probes are shared: a health check that everybody calls must not become a load. In ms. */
const PROBE_TTL_MS = 1000;
/** A dependency that takes longer counts as away: whoever asks for health wants to know now. In ms. */
const PROBE_TIMEOUT_MS = 2500;

type Reason = HealthBody["reasons"][number];
/** A probe's value, or why there is none. */
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

async function readBalance({ chain }: Dependencies, address: Address) {
  const balance = await probe(() => fromChain(() => chain.getBalance({ address })), chainNotFound);
  return { address, balanceWei: balance.value === undefined ? null : String(balance.value) };
}

async function probeAll(deps: Dependencies, readers: Readers) {
  const { chain, connection, deployment } = deps;
  const relayers = probe(
    () => fromDatabase(() => liveRelayers(connection.db, deployment.chainId)),
    databaseUnavailable,
  );
  const [chainId, head, live, position] = await Promise.all([
    probe(() => fromChain(() => chain.getChainId()), chainNotFound),
    probe(readers.chain.recentHead, chainNotFound),
    relayers,
    probe(() => readIndexPosition(deps), databaseUnavailable),
  ]);
  const addresses = (live.value ?? []).map(({ address }) => address);
  const balances = head.reason
    ? addresses.map((address) => ({ address, balanceWei: null })) // not to wait for a chain that is away once more
    : await Promise.all(addresses.map((address) => readBalance(deps, address)));
  return { chainId, head, live, position, balances };
}

type Probes = Awaited<ReturnType<typeof probeAll>>;

function findReasons({ chainId, head, live, position }: Probes, deps: Dependencies): Reason[] {
  const reasons: Reason[] = [];
  const add = (code: string, message: string) => reasons.push({ code, message });
  const unreachable = chainId.reason ?? head.reason;
  if (unreachable) reasons.push(unreachable);
  if (chainId.value !== undefined && chainId.value !== deps.deployment.chainId) {
    add(
      "wrong_chain",
      `The node serves chain ${chainId.value}, the deployment is on ${deps.deployment.chainId}.`,
    );
  }
  if (live.reason) reasons.push(live.reason);
  else if (live.value.length === 0)
    add("relayer_unavailable", "No writer is at work; purchases cannot be sent.");
  if (position.reason && position.reason.code !== live.reason?.code) reasons.push(position.reason);
  if (!position.reason && head.value) {
    const { condition, lagBlocks } = indexerStatus(position.value, head.value, Date.now());
    if (condition === "down") add("indexer_down", "The indexer gives no sign of life.");
    if (condition === "backfilling") add("indexer_syncing", "The indexer still reads the chain's history.");
    if (condition === "behind")
      add("indexer_lagging", `The index is ${lagBlocks} blocks behind; up to ${LAG_LIMIT} are normal.`);
  }
  return reasons;
}

/** Makes the reader of `GET /health`; it rejects only with `health_contracts_incomplete`. */
export function createHealth(deps: Dependencies, readers: Readers): () => Promise<HealthBody> {
  const { deployment } = deps;
  const begun = performance.now();
  const probes = shareRead(PROBE_TTL_MS, () => probeAll(deps, readers));
  return async () => {
    const contracts = contractsOf(deployment);
    const found = await probes();
    const reasons = findReasons(found, deps);
    const { chainId, head, balances } = found;
    return {
      status: reasons.length === 0 ? "ok" : "degraded",
      reasons,
      service: "parametric-cover-service",
      version: API_VERSION,
      release: deployment.release,
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
      contracts: { ...contracts },
    };
  };
}
