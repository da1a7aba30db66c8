import type { Address } from "viem";
import type { WalletRole } from "../../../lib/ledger/relayers.ts";
import type { Call } from "../../ledger/assign-nonces.ts";
import type { ChainContext } from "../chain-context.ts";
import type { SettleReceipts } from "../settle-receipts.ts";
import type { Wallet } from "../wallets.ts";
import type { MinedUnknown } from "./reconcile.ts";

export type RecoveryContext = ChainContext & {
  readonly confirmations: number;
  readonly settleReceipts: SettleReceipts;
  /** The maximum fee per gas of all transactions in wei: calls leave room below it for a cancelling transfer. */
  readonly maxFee: bigint;
  /** The most that the gas of a wallet with this role may cost in a UTC day, together with those that share its budget, in wei. */
  readonly gasBudgetOf: (role: WalletRole) => bigint;
  /** How long a purchase may wait to be mined, in seconds. */
  readonly ttl: number;
  /** When a nonce's holder may be searched for again, by `performance.now()`; the key is the transaction's id. */
  readonly nextSearchAt: Map<number, number>;
  readonly coverRouter: Address;
  readonly usdc: Address;
  readonly keeperTargets: readonly Address[];
  readonly minedUnknown: MinedUnknown;
  /** The height at which the node was first seen to lack a wallet's unknown transactions again. */
  readonly unknownMissingFrom: Map<Address, bigint>;
  /**
   * The start of the server since which wallets are fenced; for each that nobody fences now the height since which that is so, and the
   * last fault of each.
   */
  comparing:
    | {
        readonly server: string;
        idleFrom: ReadonlyMap<Address, bigint>;
        readonly faults: Map<Address, string>;
      }
    | undefined;
  /** When the chain's counts of an idle wallet were last asked for, by `performance.now()`. */
  readonly countedAt: Map<Address, number>;
  /** The head at which the chain was first seen to lack a wallet's final transactions. */
  readonly finalMissingAt: Map<Address, bigint>;
  /** The height of the newest head. */
  readonly height: () => bigint | undefined;
  /** The height at which a wallet's transactions were last sent again, or got a higher fee. */
  readonly repeatedAt: Map<Address, bigint | undefined>;
};

/** So much higher a head is taken for one of a node that is not behind: twenty seconds of an L2. */
export const HEADS = 10n;

/** A plain transfer costs exactly this much gas. */
const TRANSFER_GAS = 21_000n;

/** A transfer of nothing to the wallet itself: it uses a nonce and has no other effect. */
export const emptyTransfer = ({ address }: Pick<Wallet, "address">): Call => ({
  to: address,
  data: "0x",
  value: 0n,
  gasLimit: TRANSFER_GAS,
});

/** Whether a call is an empty transfer of the wallet to itself: a filler, or a cancellation. */
export const isEmptyTransfer = (
  wallet: Address,
  { to, data, value }: Pick<Call, "to" | "data" | "value">,
): boolean => to === wallet && data === "0x" && value === 0n;
