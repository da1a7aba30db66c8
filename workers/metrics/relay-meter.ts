import type { Registry } from "prom-client";
import { formatEther, type Hex } from "viem";
import { openCounter, openHistogram } from "../../lib/metrics/description.ts";
import { type MetricsPrefix, relayMetrics } from "../../lib/metrics/relay-metrics.ts";
import { createStages } from "./purchase-stages.ts";

/** API keys with a counter of their own. All others share one, which bounds memory. */
const MAX_KEYS = 1000;
const OTHER_KEYS = "other";
/** The `key_id` of the sandbox's purchases. */
const SANDBOX = "sandbox";

/** The outcome of a purchase: `refused` before a signature, the others in a block. */
export type Ending = "bought" | "reverted" | "replaced" | "refused";

/** Measures a chain's relayer as it works: stages of purchases, broadcasts, outcomes, fee bumps, gas. */
export function createMeter(registry: Registry, prefix: MetricsPrefix = "relay") {
  const described = relayMetrics(prefix);
  const seconds = openHistogram(registry, described.stageSeconds);
  const broadcastSeconds = openHistogram(registry, described.broadcastSeconds);
  const broadcasts = openCounter(registry, described.broadcasts);
  const settled = openCounter(registry, described.settled);
  const bumps = openCounter(registry, described.feeBumps);
  const gas = openCounter(registry, described.gasSpent);
  // Export zeros from the start, because a rate needs a first value.
  for (const answer of ["accepted", "refused", "unknown"]) broadcasts.inc({ answer }, 0);
  for (const outcome of ["bought", "reverted", "replaced", "refused"]) settled.inc({ outcome }, 0);

  const stages = createStages(
    (stage, value) => seconds.observe({ stage }, value),
    (value) => broadcastSeconds.observe(value),
  );
  const keys = new Set<string>();
  let recentCost: bigint | undefined;

  function labelOf(keyId: string): string {
    if (keys.size < MAX_KEYS) keys.add(keyId);
    return keys.has(keyId) ? keyId : OTHER_KEYS;
  }

  return {
    /** The writer read a purchase, `age` seconds after it was accepted. */
    read: (id: string, age: number) => stages.begin(id, age),
    /** A signing round with these purchases begins. */
    signing: (ids: readonly string[]) => stages.end("queue", ids),
    simulated: (ids: readonly string[]) => stages.end("simulate", ids),
    /** The round's signed transactions are stored. From now on the transaction's hash identifies a purchase. */
    signed(round: readonly { id: string; signed: { hash: Hex } }[]): void {
      for (const { id, signed } of round) {
        stages.end("sign", [id]);
        stages.alias(id, signed.hash);
        stages.forget(id);
      }
    },
    /** The node answered a broadcast. */
    answered(hash: Hex, answer: "accepted" | "refused" | "unknown"): void {
      broadcasts.inc({ answer });
      if (answer === "accepted") stages.end("broadcast", [hash]);
    },
    /** A block with these transactions was read; it may have others' transactions too. */
    seen: (hashes: readonly Hex[]) => stages.end("mine", hashes),
    /** The outcomes of these transactions are stored. */
    settled: (hashes: readonly Hex[]) => stages.end("settle", hashes),
    /** A purchase was settled by a block; `gasCost` in wei. */
    ended(ending: Ending, keyId: string | null, gasCost: bigint): void {
      settled.inc({ outcome: ending });
      gas.inc({ key_id: keyId === null ? SANDBOX : labelOf(keyId) }, Number(formatEther(gasCost)));
      if (ending === "bought") recentCost = gasCost;
    },
    /** A purchase failed before it was signed. */
    refused(id: string): void {
      settled.inc({ outcome: "refused" satisfies Ending });
      stages.forget(id);
    },
    /** The transaction was signed again at a higher fee. */
    bumped(last: Hex, next: Hex): void {
      bumps.inc();
      stages.alias(last, next);
    },
    /** Gas cost of the newest purchase in wei; undefined until this process has settled one. */
    recentCost: (): bigint | undefined => recentCost,
  };
}

export type Meter = ReturnType<typeof createMeter>;
