/** Checks the writer's wallets: their keys, their place on the router's allowlist, and what they can pay for. */
import { type Address, formatEther, formatGwei } from "viem";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import type { WriterConfig } from "../../lib/config.ts";
import { ConfigError } from "../../lib/config-error.ts";
import type { WalletRole } from "../../lib/ledger/relayers.ts";
import { errorText } from "../../lib/log.ts";
import {
  hasKeeper,
  mainKeys,
  oracleKeys,
  requireFittingKeys,
  testnetKeys,
  type VariableKeys,
} from "../../workers/common/wallet-keys.ts";
import { addressOf } from "../../workers/relayer/signer.ts";
import type { ReachedChain } from "./chain.ts";
import { type Finding, findingsOf } from "./finding.ts";

/** About the gas of a transaction of the service, rounded up. */
const TRANSACTION_GAS = 600_000n;
/** A wallet that can pay for fewer than this is refilled before the start. */
const FEW_TRANSACTIONS = 100n;

const { ok, warning, fault } = findingsOf("wallets");

type Wallet = { readonly variable: string; readonly role: WalletRole; readonly address: Address };

function wrongKeys(keys: readonly VariableKeys[], local: boolean): Finding[] {
  try {
    requireFittingKeys(keys, local);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.faults.map((text) =>
      fault(text, local ? "use anvil's keys here" : "make a new key, and take this one out of use"),
    );
  }
}

async function examineAllowlist(chain: ReachedChain, { variable, address }: Wallet): Promise<Finding[]> {
  const router = chain.deployment.contracts.coverRouter;
  const allowed = await chain.client.readContract({
    address: router,
    abi: coverRouterAbi,
    functionName: "authorizedRelayers",
    args: [address],
  });
  if (allowed) return [];
  return [
    fault(
      `${variable}: ${address} is not on the allowlist of the cover router ${router}`,
      `have the router's owner call setRelayer(${address}, true), or remove the key`,
    ),
  ];
}

/** What the wallet's ether pays for at today's fees, as far as MAX_FEE_GWEI allows them. */
async function examineBalance(
  chain: ReachedChain,
  { variable, role, address }: Wallet,
  maxFee: bigint,
): Promise<Finding> {
  const balance = await chain.client.getBalance({ address });
  const today = 2n * (chain.head.baseFeePerGas ?? 0n) + 1n;
  const transactions = balance / (TRANSACTION_GAS * (today < maxFee ? today : maxFee));
  const text = `${variable}: ${address} (${role}) has ${formatEther(balance)} ETH`;
  const remedy = `send ether to ${address} on chain ${chain.deployment.chainId}`;
  if (transactions === 0n) return fault(`${text}, too little for one transaction`, remedy);
  if (transactions < FEW_TRANSACTIONS) {
    return warning(`${text}, enough for about ${transactions} transactions at today's fees`, remedy);
  }
  return ok(text);
}

function examineFee({ head, deployment }: ReachedChain, maxFee: bigint): Finding[] {
  const baseFee = head.baseFeePerGas ?? 0n;
  if (baseFee <= maxFee) return [];
  return [
    warning(
      `the base fee on chain ${deployment.chainId} is ${formatGwei(baseFee)} gwei, above MAX_FEE_GWEI: nothing is signed until it falls`,
      `set MAX_FEE_GWEI above ${formatGwei(baseFee)}, or wait`,
    ),
  ];
}

/** Checks the wallets of one chain. Never rejects. */
export async function examineWallets(config: WriterConfig, chain: ReachedChain): Promise<Finding[]> {
  const isMain = chain.prefix === "";
  const named = isMain ? mainKeys(config) : testnetKeys(config);
  const wallets = named.flatMap(({ variable, role, keys }) =>
    keys.map((key): Wallet => ({ variable, role, address: addressOf(key) })),
  );
  const maxFee = config.MAX_FEE_GWEI;
  const findings = [
    ...wrongKeys(isMain ? [...named, ...oracleKeys(config)] : named, chain.local),
    ...examineFee(chain, maxFee),
  ];
  if (isMain && !hasKeeper(config)) {
    findings.push(
      warning(
        "there is no keeper: this writer triggers no policy and closes none",
        "set KEEPER_PRIVATE_KEY, or KEEPER_PUBLIC_KEY, on one writer at least",
      ),
    );
  }
  try {
    // A relayer funds the sandbox's wallet.
    const paying = wallets.filter(({ role }) => role !== "sandbox");
    const [allowlist, balances] = await Promise.all([
      Promise.all(
        wallets.filter(({ role }) => role === "relayer").map((wallet) => examineAllowlist(chain, wallet)),
      ),
      Promise.all(paying.map((wallet) => examineBalance(chain, wallet, maxFee))),
    ]);
    return [...findings, ...allowlist.flat(), ...balances];
  } catch (error) {
    const text = `the wallets on chain ${chain.deployment.chainId} cannot be read: ${errorText(error)}`;
    const remedy = `see that contracts.coverRouter in ${chain.prefix}DEPLOYMENT_FILE is the cover router`;
    return [...findings, fault(text, remedy)];
  }
}
