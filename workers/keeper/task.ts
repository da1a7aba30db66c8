import { type Address, encodeFunctionData, type Hex } from "viem";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { expiryCalldata, settleCalldata, submitCalldata, upkeepCalldata } from "../../lib/chain/trigger.ts";
import type { Contracts } from "../../lib/deployments.ts";
import type { DuePolicy } from "../../lib/indexed/due.ts";
import type { ExpiredPolicy, OpenQueue } from "../../lib/indexed/overdue.ts";
import { lower } from "../../lib/lower.ts";
import { OBSERVATIONS } from "../../lib/price-rules.ts";
import { QUEUE_IDS_PER_WEEK, WEEK_SECONDS } from "../../lib/vault-units.ts";

/** Observes a due policy, which the third time pays it, closes an expired one, or pays what fits of the week's redemption queue. */
export const keeperPurposes = ["trigger", "expire", "queue"] as const;
export type KeeperPurpose = (typeof keeperPurposes)[number];

type Call = { readonly from?: Address; readonly to: Address; readonly data: Hex };

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
  /** The block of the policy's last observation or reset: it has done what a call in it or before was sent for. Null for none. */
  readonly changedIn: bigint | null;
  readonly to: Address;
  readonly data: Hex;
  /** Its call can take other policies of the product along. */
  readonly isShared: boolean;
  /** The call that shows by a revert, or by its logs, what the task's call would do: that one catches its policies' failures. */
  readonly simulated: Call;
};

/**
 * `upkeep`: the keeper contract settles ten policies of a product's present adapter, for anybody. `adapter`: the adapter, also a replaced
 * one, settles one policy, for its relayer. `router`: submits the third observation alone, of a present adapter, for its relayers.
 */
export type Way = "upkeep" | "adapter" | "router";

/** Names a task in logs and lists. */
export const taskName = ({ purpose, productId, policyId }: Task): string =>
  productId === null ? `${purpose} ${policyId}` : `${purpose} ${productId}/${policyId}`;

/** An observation by this way, with the keeper's wallet; undefined where it cannot be made by it. */
export function triggerTask(
  { shieldKeeper, coverRouter }: Pick<Contracts, "shieldKeeper" | "coverRouter">,
  { productId, policyId, shield, buyer, lastMoment, observation, changedIn }: DuePolicy,
  { way, wallet }: { readonly way: Way; readonly wallet: Address },
): Task | undefined {
  if (shield === null) return undefined;
  const task = {
    ...{ purpose: "trigger" as const, productId, policyId, deadline: lastMoment, changedIn },
    receiver: observation === OBSERVATIONS ? buyer : null,
  };
  const settle = { to: shield, data: settleCalldata(policyId) };
  switch (way) {
    case "upkeep": {
      if (shieldKeeper === undefined) return undefined;
      const keeper = lower(shieldKeeper);
      const call = { to: keeper, data: upkeepCalldata(productId, [policyId]) };
      return { ...task, ...call, isShared: true, simulated: { from: keeper, ...settle } };
    }
    case "adapter":
      return { ...task, ...settle, isShared: false, simulated: { from: wallet, ...settle } };
    case "router": {
      if (observation < OBSERVATIONS) return undefined;
      const call = { to: lower(coverRouter), data: submitCalldata({ productId, policyId }) };
      return { ...task, ...call, isShared: false, simulated: { from: wallet, ...call } };
    }
  }
}

export function expiryTask({ policyManager }: Pick<Contracts, "policyManager">, policy: ExpiredPolicy): Task {
  const call = { to: lower(policyManager), data: expiryCalldata(policy) };
  return {
    ...{ purpose: "expire", ...policy, deadline: null, receiver: null, changedIn: null, isShared: false },
    ...call,
    simulated: call,
  };
}

export function queueTask({ bondVault }: Pick<Contracts, "bondVault">, { week, paid }: OpenQueue): Task {
  const call = {
    to: lower(bondVault),
    data: encodeFunctionData({ abi: bondVaultAbi, functionName: "processQueue" }),
  };
  return {
    ...{ purpose: "queue", productId: null, policyId: week * QUEUE_IDS_PER_WEEK + paid, receiver: null },
    ...{ deadline: (week + 1n) * WEEK_SECONDS - 1n, changedIn: null, isShared: false },
    ...call,
    simulated: call,
  };
}
