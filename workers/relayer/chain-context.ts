import type { Sql } from "postgres";
import type { Logger } from "../../lib/log.ts";
import type { Meter } from "../metrics/relay-meter.ts";
import type { Chain } from "./chain.ts";
import type { FeeMarket } from "./fee-market.ts";
import type { Send } from "./sender.ts";
import type { WalletPool } from "./wallets.ts";

/** Shared by all steps that send from one chain's wallets. */
export type ChainContext = {
  readonly sql: Sql;
  readonly chain: Chain;
  readonly chainId: number;
  readonly market: FeeMarket;
  readonly wallets: WalletPool;
  readonly send: Send;
  /** The maximum fee per gas, in wei. */
  readonly maxFee: bigint;
  readonly meter: Meter;
  readonly log: Logger;
};
