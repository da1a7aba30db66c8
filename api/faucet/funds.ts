/** What the faucet's wallet has. */
import type { Address } from "viem";
import { ERRAND_GAS_LIMIT } from "../../lib/ledger/gas.ts";
import { shareReadBy } from "../../lib/shared-read.ts";
import { createSettledFunds, type SettledFunds } from "../chain/settled-funds.ts";
import type { Dependencies, Testnet } from "../dependencies.ts";
import { fromChain } from "../http/dependency-timeout.ts";

/** In wei: the balance, and what one transfer's gas may cost. */
type Held = { balance: bigint; gas: bigint };

/** The writer offers twice the base fee, which is most of the price. */
const PRICE_MARGIN = 2n;
/** How long a read of the newest balance is shared, in ms: an empty faucet refuses many at once. */
const NEWEST_SHARED_MS = 250;

export function createFaucetFunds(
  { connection }: Pick<Dependencies, "connection">,
  { chain, deployment }: Pick<Testnet, "chain" | "deployment">,
): SettledFunds<Held> {
  const held = (address: Address, blockNumber: bigint): Promise<Held> =>
    fromChain(async () => {
      const [balance, gasPrice] = await Promise.all([
        chain.getBalance({ address, blockNumber }),
        chain.getGasPrice(),
      ]);
      return { balance, gas: ERRAND_GAS_LIMIT * PRICE_MARGIN * gasPrice };
    });
  const head = () => fromChain(async () => ({ number: await chain.getBlockNumber() }));
  const funds = createSettledFunds({ connection, deployment }, { head, held });
  return { ...funds, newest: shareReadBy(NEWEST_SHARED_MS, funds.newest) };
}
