import { type Address, encodeFunctionData, type Hex } from "viem";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { expiryCalldata, triggerCalldata } from "../../lib/chain/trigger.ts";
import type { Contracts } from "../../lib/deployments.ts";
import type { DuePolicy } from "../../lib/indexed/due.ts";
import type { ExpiredPolicy, OpenQueue } from "../../lib/indexed/overdue.ts";
import { lower } from "../../lib/lower.ts";
import { QUEUE_IDS_PER_WEEK, WEEK_SECONDS } from "../../lib/vault-units.ts";

/** Triggers a due policy, closes an expired one, or pays what fits of the week's redemption queue. */
export const keeperPurposes = ["trigger", "expire", "queue"] as const;
export type KeeperPurpose = (typeof keeperPurposes)[number];

/** One thing that the keeper has to do, and the call that does it. */
export type Task = {
  readonly purpose: KeeperPurpose;
  /** Null for the redemption queue. */
  readonly productId: Hex | null;
  /** For the redemption queue: the id of its first unpaid entry, if it was paid in order. Any payment makes the next call a new task. */
  readonly policyId: bigint;
  /** The last second (Unix) in which it can be done; null where there is none. */
  readonly deadline: bigint | null;
  /** Who receives bonds: a contract's own code then runs in the call. Null where nobody's does. */
  readonly receiver: Address | null;
  readonly to: Address;
  readonly data: Hex;
};

/** Names a task in logs and lists. */
export const taskName = ({ purpose, productId, policyId }: Task): string =>
  productId === null ? `${purpose} ${policyId}` : `${purpose} ${productId}/${policyId}`;

export const triggerTask = (
  { coverRouter }: Contracts,
  { productId, policyId, buyer, expiresAt, rounds }: DuePolicy,
): Task => ({
  ...{ purpose: "trigger", productId, policyId, deadline: expiresAt, receiver: buyer },
  to: lower(coverRouter),
  data: triggerCalldata({ productId, policyId }, rounds),
});

export const expiryTask = ({ policyManager }: Contracts, policy: ExpiredPolicy): Task => ({
  ...{ purpose: "expire", ...policy, deadline: null, receiver: null },
  to: lower(policyManager),
  data: expiryCalldata(policy),
});

export const queueTask = ({ bondVault }: Pick<Contracts, "bondVault">, { week, paid }: OpenQueue): Task => ({
  ...{ purpose: "queue", productId: null, policyId: week * QUEUE_IDS_PER_WEEK + paid, receiver: null },
  deadline: (week + 1n) * WEEK_SECONDS - 1n,
  to: lower(bondVault),
  data: encodeFunctionData({ abi: bondVaultAbi, functionName: "processQueue" }),
});
