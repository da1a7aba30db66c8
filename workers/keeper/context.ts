import type { PostgresJsDatabase } from "drizzle-orm/postgres-js";
import type { LRUCache } from "lru-cache";
import type { Address } from "viem";
import type { Contracts } from "../../lib/deployments.ts";
import type { KeeperMeter } from "../metrics/keeper-metrics.ts";
import type { ChainContext } from "../relayer/chain-context.ts";
import type { Funds } from "./batches.ts";
import type { DueWork } from "./due-tasks.ts";
import type { CoverChain } from "./from-chain/cover-chain.ts";
import type { Ways } from "./ways.ts";

export type KeeperContext = Omit<ChainContext, "send" | "meter"> & {
  readonly contracts: Contracts;
  /** The views of the index. */
  readonly index: PostgresJsDatabase;
  /** The chain as the keeper reads it while the index is away or behind. */
  readonly cover: CoverChain;
  /** The newest block that this writer has seen; undefined before the first. */
  readonly chainHead: () => bigint | undefined;
  /** The most that the keeper's gas may cost in a UTC day, in wei. */
  readonly gasBudget: bigint;
  /** Called when a batch is recorded. */
  readonly onBatch: () => void;
  readonly meter: KeeperMeter;
  /** The names of tasks that are left alone for a while: somebody else has done them, or they would change nothing yet. */
  readonly leftAlone: LRUCache<string, true>;
  /** Tasks whose call reverted in a block that the index did not have yet, by name: the newest block then. */
  readonly reverted: LRUCache<string, bigint>;
  /** Receivers of bonds that have code. */
  readonly withCode: LRUCache<Address, true>;
  /** After the node has refused a sequence of calls, they are simulated one by one until then, by `performance.now()`. */
  sequenceFrom: number;
  /** The newest head of the index, and since when it has been the newest, by `performance.now()`. */
  indexHead: { hash: string | undefined; since: number };
  /** The block of the index in which nothing was due, and when that was seen, by `performance.now()`. */
  idle: { hash: string | undefined; since: number };
  /** Whether the last look was at the index; undefined before the first. */
  usesIndex: boolean | undefined;
  /** When the chain was last read for due policies, by `performance.now()`, and what was due then. */
  scannedAt: number;
  scanned: DueWork | undefined;
  /** By which ways the keeper may observe, which adapters were asked, and when that was read, by `performance.now()`. */
  ways: Ways & { readonly asked: ReadonlySet<Address>; readonly readAt: number };
  /** When the wallet was last checked, and when the keeper's watch was last noted, by `performance.now()`. */
  checkedAt: number;
  watchedAt: number;
  /** The block of the index up to which observations were measured; undefined before the first watch. */
  measuredTo: bigint | undefined;
  /** Why the keeper could not send or observe when it was last checked. */
  fault: string | undefined;
  /** What the wallet could pay for when it was last checked; undefined before that, and while it cannot send. */
  funds: Funds | undefined;
  /** Why tasks of the last round wait because funds or budget do not cover them, in words; undefined: none do. */
  lack: string | undefined;
};
