import type { Address } from "viem";
import type { ReadClient } from "../../lib/chain/client.ts";
import type { Contracts } from "../../lib/deployments.ts";
import type { ChainHead } from "../chain/block.ts";
import type { Protocol } from "../chain/contracts/products.ts";
import type { Issue } from "./issue-schemas.ts";
import type { Step } from "./steps.ts";

/** What an action is planned from: everything is read at `block`. */
export type PlanContext = {
  readonly reads: ReadClient;
  readonly contracts: Contracts;
  readonly catalogue: Protocol["catalogue"];
  readonly block: ChainHead;
  /** The wallet that will sign. */
  readonly from: Address;
};

/** What an action takes. */
export type Plan = {
  readonly summary: string;
  readonly issues: readonly Issue[];
  readonly steps: readonly Step[];
  /** Last seconds (Unix) in which the action can be done, or its figures hold. */
  readonly endsAt: readonly bigint[];
};

/** The issues that there are. */
export const issuesOf = (...issues: readonly (Issue | undefined)[]): Issue[] =>
  issues.filter((issue) => issue !== undefined);
