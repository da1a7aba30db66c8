import { type Address, erc20Abi } from "viem";
import { approvalCalldata, mintCalldata } from "../../lib/chain/mock-usdc.ts";
import { lower } from "../../lib/lower.ts";
import { type Loop, startLoop } from "../common/loop.ts";
import { gasSpentToday } from "../ledger/gas-spending.ts";
import type { ChainContext } from "../relayer/chain-context.ts";
import type { Engine } from "../relayer/engine.ts";
import { initialFees } from "../relayer/fees.ts";
import { walletsOf } from "../relayer/wallets.ts";
import {
  APPROVAL_GAS,
  type Condition,
  givenEther,
  MINTED_USDC,
  type Plan,
  planUpkeep,
  type UpkeepPurpose,
} from "./upkeep-plan.ts";
import {
  activeRelayers,
  beginServiceTransaction,
  lastServiceTransactions,
  type NewServiceTransaction,
  noteSandbox,
} from "./upkeep-queries.ts";

/** How often the wallet is checked, in ms: while it lacks nothing, and while it lacks something. */
const WELL_MS = 5000;
const WANTING_MS = 500;

export type UpkeepContext = Omit<ChainContext, "send" | "meter"> & {
  readonly usdc: Address;
  readonly coverRouter: Address;
  /** The most that gas may cost on the chain in a UTC day, in wei. */
  readonly gasBudget: bigint;
  /** Called when there is a new service transaction. */
  readonly onServiceTransaction: () => void;
  /** The fault of the last round, as it was logged. */
  lastFault?: string | undefined;
  /** Whether the wallet lacked nothing in the last round. */
  well?: boolean;
};

/**
 * Keeps the sandbox's wallet in USDC, and the cover router approved, while this writer sends from it: by service transactions of the
 * ledger. Stores its findings for the API.
 */
export function startUpkeep(
  engine: Engine,
  options: Pick<UpkeepContext, "gasBudget" | "onServiceTransaction">,
): Loop {
  const { usdc, coverRouter } = engine.deployment.contracts;
  const contracts = { usdc: lower(usdc), coverRouter: lower(coverRouter) };
  const context: UpkeepContext = { ...engine, ...options, ...contracts };
  return startLoop({
    name: "keeping the sandbox's wallet",
    log: engine.log,
    pauseMs: () => (context.well ? WELL_MS : WANTING_MS),
    round: () => keepSandboxWallet(context),
  });
}

/** One round of the upkeep; does nothing while another writer has the wallet. */
export async function keepSandboxWallet(context: UpkeepContext): Promise<void> {
  const { sql, chainId } = context;
  const [sandbox] = walletsOf(context.wallets, "sandbox");
  if (!sandbox) return;
  const { address: wallet } = sandbox;
  const condition = await readCondition(context, wallet);
  const plan = planUpkeep(condition);
  const { begin, canBuy, fault } = plan;
  const { usdc, allowance, ether } = condition;
  await noteSandbox(sql, chainId, { wallet, usdc, allowance, ether, canBuy, fault });
  logChange(context, wallet, plan);
  context.well = fault === undefined && begin.length === 0;
  for (const purpose of begin) {
    const relayer = condition.relayer?.address ?? wallet;
    const serviceTransaction = serviceTransactionFor(context, purpose, { wallet, relayer, condition });
    if (await beginServiceTransaction(sql, chainId, serviceTransaction)) context.onServiceTransaction();
  }
}

async function readCondition(context: UpkeepContext, wallet: Address): Promise<Condition> {
  const { sql, chain, chainId, market, price, maxCallFee, usdc, coverRouter } = context;
  const token = { address: usdc, abi: erc20Abi } as const;
  const approval = { to: usdc, data: approvalCalldata(coverRouter), value: 0n, gasLimit: APPROVAL_GAS };
  const [balance, allowance, ether, now, { l1Fee }, relayer, spent, last] = await Promise.all([
    chain.client.readContract({ ...token, functionName: "balanceOf", args: [wallet] }),
    chain.client.readContract({ ...token, functionName: "allowance", args: [wallet, coverRouter] }),
    chain.balance(wallet),
    market.now(),
    price(approval),
    richestRelayer(context),
    gasSpentToday(sql, chainId),
    lastServiceTransactions(sql, chainId),
  ]);
  const fees = initialFees(now, maxCallFee);
  return {
    usdc: balance,
    allowance,
    ether,
    gasPrice: fees?.maxFee ?? maxCallFee,
    l1Fee,
    tooExpensive: fees === undefined,
    budgetLeft: context.gasBudget - spent,
    relayer,
    last,
  };
}

async function richestRelayer({ sql, chain, chainId }: UpkeepContext): Promise<Condition["relayer"]> {
  const addresses = await activeRelayers(sql, chainId);
  const relayers = await Promise.all(
    addresses.map(async (address) => ({ address, ether: await chain.balance(address) })),
  );
  return relayers.sort((a, b) => (a.ether < b.ether ? 1 : -1))[0];
}

function serviceTransactionFor(
  { usdc, coverRouter }: UpkeepContext,
  purpose: UpkeepPurpose,
  { wallet, relayer, condition }: { wallet: Address; relayer: Address; condition: Condition },
): NewServiceTransaction {
  switch (purpose) {
    case "sandbox_ether":
      return { purpose, sender: relayer, to: wallet, data: "0x", value: givenEther(condition) };
    case "sandbox_usdc":
      return { purpose, sender: relayer, to: usdc, data: mintCalldata(wallet, MINTED_USDC), value: 0n };
    case "sandbox_approval":
      return { purpose, sender: wallet, to: usdc, data: approvalCalldata(coverRouter), value: 0n };
  }
}

/** Logs the fault when it changes, and not in every round. */
function logChange(context: UpkeepContext, wallet: Address, { fault, canBuy }: Plan): void {
  if (fault === context.lastFault) return;
  context.lastFault = fault;
  if (fault === undefined) context.log.info({ wallet }, "the sandbox's wallet is in order");
  else context.log.warn({ wallet, canBuy, fault }, "the sandbox's wallet is not in order");
}
