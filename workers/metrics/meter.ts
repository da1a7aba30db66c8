import { Counter, Histogram, type Registry } from "prom-client";
import { formatEther, type Hex } from "viem";
import { createStages } from "./stages.ts";

/** Seconds: from a statement of Postgres up to a transaction that waits through rising fees. */
const BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60, 120, 300, 900];
/** Keys with a counter of their own; what others spend is counted together, so that memory has a bound. */
const MAX_KEYS = 1000;
const OTHER_KEYS = "other";
/** In a key's place for what the sandbox buys. */
const SANDBOX = "sandbox";

/** How a purchase ended: `refused` before anything was signed, the others in a block. */
export type Ending = "bought" | "reverted" | "replaced" | "refused";

/** What the names of a chain's figures begin with: the main chain's, and those of the chain of sandbox and faucet. */
export type MetricsPrefix = "relay" | "testnet";

/** What the relayer of a chain tells of its work as it goes along. */
export function createMeter(registry: Registry, prefix: MetricsPrefix = "relay") {
  const registers = [registry];
  const seconds = new Histogram({
    name: `${prefix}_stage_seconds`,
    help: "Seconds that purchases spent in each stage on their way",
    labelNames: ["stage"],
    buckets: BUCKETS,
    registers,
  });
  const broadcasts = new Counter({
    name: `${prefix}_broadcasts_total`,
    help: "Signed transactions handed to the node, by its answer",
    labelNames: ["answer"],
    registers,
  });
  const settled = new Counter({
    name: `${prefix}_settled_total`,
    help: "Purchases that came to an end, by outcome",
    labelNames: ["outcome"],
    registers,
  });
  const bumps = new Counter({
    name: `${prefix}_fee_bumps_total`,
    help: "Transactions signed again at a higher fee",
    registers,
  });
  const gas = new Counter({
    name: `${prefix}_gas_spent_eth_total`,
    help: "ETH spent on the gas of purchases, the L1's share included, by the id of the API key",
    labelNames: ["key_id"],
    registers,
  });
  // Counters that are there from the start: a rate needs a zero to rise from.
  for (const answer of ["accepted", "refused", "unknown"]) broadcasts.inc({ answer }, 0);
  for (const outcome of ["bought", "reverted", "replaced", "refused"]) settled.inc({ outcome }, 0);

  const stages = createStages((stage, value) => seconds.observe({ stage }, value));
  const keys = new Set<string>();
  let recentCost: bigint | undefined;

  function labelOf(keyId: string): string {
    if (keys.size < MAX_KEYS) keys.add(keyId);
    return keys.has(keyId) ? keyId : OTHER_KEYS;
  }

  return {
    /** The purchase was read, `age` seconds after it was recorded. */
    read: (id: string, age: number) => stages.begin(id, age),
    simulated: (id: string) => stages.end("simulate", [id]),
    /** A round of signing begins with these purchases. */
    signing: (ids: readonly string[]) => stages.end("queue", ids),
    /** The round's bytes are stored; from now on a purchase goes by its hash. */
    signed(round: readonly { id: string; signed: { hash: Hex } }[]): void {
      for (const { id, signed } of round) {
        stages.end("sign", [id]);
        stages.alias(id, signed.hash);
        stages.forget(id);
      }
    },
    /** The node answered to the bytes of a transaction. */
    answered(hash: Hex, answer: "accepted" | "refused" | "unknown"): void {
      broadcasts.inc({ answer });
      if (answer === "accepted") stages.end("broadcast", [hash]);
    },
    /** A block with these transactions, of whomever, was read. */
    seen: (hashes: readonly Hex[]) => stages.end("mine", hashes),
    /** The outcomes of these transactions are written down. */
    settled: (hashes: readonly Hex[]) => stages.end("settle", hashes),
    /** A purchase came to an end in a block, and its gas cost so many wei. */
    ended(ending: Ending, keyId: string | null, gasCost: bigint): void {
      settled.inc({ outcome: ending });
      gas.inc({ key_id: keyId === null ? SANDBOX : labelOf(keyId) }, Number(formatEther(gasCost)));
      if (ending === "bought") recentCost = gasCost;
    },
    /** A purchase failed before anything of it was signed. */
    refused(id: string): void {
      settled.inc({ outcome: "refused" satisfies Ending });
      stages.forget(id);
    },
    /** The transaction got another signed form, at a higher fee. */
    bumped(last: Hex, next: Hex): void {
      bumps.inc();
      stages.alias(last, next);
    },
    /** What the gas of a purchase cost of late, in wei; undefined until this process has seen one in a block. */
    recentCost: (): bigint | undefined => recentCost,
  };
}

export type Meter = ReturnType<typeof createMeter>;
