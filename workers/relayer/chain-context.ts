import type { Sql } from "postgres";
import type { Logger } from "../../lib/log.ts";
import type { Call, PricedCall } from "../ledger/assign-nonces.ts";
import type { MarkOf } from "../ledger/intent-marks.ts";
import type { Meter } from "../metrics/relay-meter.ts";
import type { Chain } from "./chain.ts";
import type { FeeMarket } from "./fees.ts";
import type { Send } from "./send-round.ts";
import type { WalletPool } from "./wallets.ts";

/** Shared by all steps that send from one chain's wallets. */
export type ChainContext = {
  readonly sql: Sql;
  readonly chain: Chain;
  readonly chainId: number;
  readonly market: FeeMarket;
  /** Adds the most that the chain may charge for the call's data on the L1. Rejects when the node does not answer. */
  readonly price: (call: Call) => Promise<PricedCall>;
  /** The mark of a call, which says what it is for. */
  readonly markOf: MarkOf;
  readonly wallets: WalletPool;
  readonly send: Send;
  /** The maximum fee per gas of calls, in wei. */
  readonly maxCallFee: bigint;
  readonly meter: Meter;
  readonly log: Logger;
};
