import type { Call } from "../../ledger/signing.ts";
import type { ChainContext } from "../chain-context.ts";
import type { SettleReceipts } from "../settle-receipts.ts";
import type { Wallet } from "../wallets.ts";

export type RecoveryContext = ChainContext & {
  readonly confirmations: number;
  readonly settleReceipts: SettleReceipts;
  /** How long a purchase may wait to be mined, in seconds. */
  readonly ttl: number;
  /** When a nonce's holder may be searched for again, by `performance.now()`; the key is the transaction's id. */
  readonly nextSearchAt: Map<number, number>;
};

/** A plain transfer costs exactly this much gas. */
const TRANSFER_GAS = 21_000n;

/** A transfer of nothing to the wallet itself: it uses a nonce and has no other effect. */
export const emptyTransfer = ({ address }: Wallet): Call => ({
  to: address,
  data: "0x",
  value: 0n,
  gasLimit: TRANSFER_GAS,
});
