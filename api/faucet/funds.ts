/** The funds of the faucet's wallet. */
import type { Address } from "viem";
import type { Connection } from "../../lib/db/connect.ts";
import { SERVICE_TRANSACTION_GAS_LIMIT } from "../../lib/ledger/gas-limits.ts";
import { shareReadBy } from "../../lib/shared-read.ts";
import { createSettledFunds, type SettledFunds } from "../buying/settled-funds.ts";
import { fromChain } from "../http/dependency-timeout.ts";
import type { Testnet } from "./claim.ts";

/** In wei: the balance, and the maximum gas cost of one transfer. */
export type HeldEther = { balance: bigint; gas: bigint };

/** The writer bids up to twice the base fee, which is most of the gas price. */
const PRICE_MARGIN = 2n;
/** How long a read of the newest balance is shared, in ms: an empty faucet refuses many claims at once. */
const NEWEST_SHARED_MS = 250;

export function createFaucetFunds(
  connection: Connection,
  { client, deployment }: Testnet,
): SettledFunds<HeldEther> {
  const held = (address: Address, blockNumber: bigint): Promise<HeldEther> =>
    fromChain(async () => {
      const [balance, gasPrice] = await Promise.all([
        client.getBalance({ address, blockNumber }),
        client.getGasPrice(),
      ]);
      return { balance, gas: SERVICE_TRANSACTION_GAS_LIMIT * PRICE_MARGIN * gasPrice };
    });
  const head = () => fromChain(async () => ({ number: await client.getBlockNumber() }));
  const funds = createSettledFunds({ connection, deployment }, { head, held });
  return { ...funds, newest: shareReadBy(NEWEST_SHARED_MS, funds.newest) };
}
