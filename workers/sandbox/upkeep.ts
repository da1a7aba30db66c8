import { type Address, erc20Abi } from "viem";
import { approvalCalldata, mintCalldata } from "../../lib/chain/mock-usdc.ts";
import { lower } from "../../lib/lower.ts";
import { gasSpentToday } from "../ledger/spending.ts";
import { type Loop, startLoop } from "../loop.ts";
import type { Engine } from "../relayer/engine.ts";
import { initialFees } from "../relayer/fees.ts";
import { beginErrand, lastErrands, type NewErrand, noteSandbox, relayersAtWork } from "./ledger.ts";
import {
  type Condition,
  givenEther,
  MINTED_USDC,
  type Plan,
  planUpkeep,
  type UpkeepPurpose,
} from "./plan.ts";

/** How often the wallet is looked at, in ms: while all is well, and while something is missing. */
const WELL_MS = 5000;
const WANTING_MS = 500;

type UpkeepEngine = Pick<
  Engine,
  "sql" | "chain" | "chainId" | "deployment" | "wallets" | "market" | "maxFee" | "log"
>;

/**
 * Keeps the sandbox's wallet in USDC and approved while this writer sends from it, by errands of the ledger, and notes for
 * the API what it found.
 */
export function startUpkeep(
  engine: UpkeepEngine,
  {
    gasBudget,
    onErrand,
  }: {
    /** What gas may cost on the chain in a UTC day, in wei. */
    gasBudget: bigint;
    /** Hears that there is an errand to run. */
    onErrand: () => void;
  },
): Loop {
  const { sql, chain, chainId, deployment, wallets, market, maxFee, log } = engine;
  const token = lower(deployment.contracts.usdc);
  const coverRouter = lower(deployment.contracts.coverRouter);
  const reads = { address: token, abi: erc20Abi } as const;
  let told: string | undefined;
  let wanting = true;

  async function richestRelayer(): Promise<Condition["relayer"]> {
    const addresses = await relayersAtWork(sql, chainId);
    const relayers = await Promise.all(
      addresses.map(async (address) => ({ address, ether: await chain.balance(address) })),
    );
    return relayers.sort((a, b) => (a.ether < b.ether ? 1 : -1))[0];
  }

  async function conditionOf(wallet: Address): Promise<Condition> {
    const [balance, allowance, ether, now, relayer, spent, last] = await Promise.all([
      chain.client.readContract({ ...reads, functionName: "balanceOf", args: [wallet] }),
      chain.client.readContract({ ...reads, functionName: "allowance", args: [wallet, coverRouter] }),
      chain.balance(wallet),
      market.now(),
      richestRelayer(),
      gasSpentToday(sql, chainId),
      lastErrands(sql, chainId),
    ]);
    const fees = initialFees(now, maxFee);
    return {
      usdc: balance,
      allowance,
      ether,
      gasPrice: fees?.maxFee ?? maxFee,
      tooDear: fees === undefined,
      budgetLeft: gasBudget - spent,
      relayer,
      last,
    };
  }

  function errandFor(
    purpose: UpkeepPurpose,
    wallet: Address,
    relayer: Address,
    condition: Condition,
  ): NewErrand {
    switch (purpose) {
      case "sandbox_ether":
        return { purpose, sender: relayer, to: wallet, data: "0x", value: givenEther(condition) };
      case "sandbox_usdc":
        return { purpose, sender: relayer, to: token, data: mintCalldata(wallet, MINTED_USDC), value: 0n };
      case "sandbox_approval":
        return { purpose, sender: wallet, to: token, data: approvalCalldata(coverRouter), value: 0n };
    }
  }

  /** One line in the log for each change of what is wrong, not one a round. */
  function tell(wallet: Address, { fault, canBuy }: Plan): void {
    if (fault === told) return;
    told = fault;
    if (fault === undefined) log.info({ wallet }, "the sandbox's wallet is in order");
    else log.warn({ wallet, canBuy, fault }, "the sandbox's wallet is not in order");
  }

  async function round(): Promise<void> {
    const [sandbox] = wallets.of("sandbox");
    if (!sandbox) return;
    const { address: wallet } = sandbox;
    const condition = await conditionOf(wallet);
    const plan = planUpkeep(condition);
    const { begin, canBuy, fault } = plan;
    const { usdc, allowance, ether } = condition;
    await noteSandbox(sql, chainId, { wallet, usdc, allowance, ether, canBuy, fault });
    tell(wallet, plan);
    wanting = fault !== undefined || begin.length > 0;
    for (const purpose of begin) {
      const errand = errandFor(purpose, wallet, condition.relayer?.address ?? wallet, condition);
      if (await beginErrand(sql, chainId, errand)) onErrand();
    }
  }

  const pauseMs = () => (wanting ? WANTING_MS : WELL_MS);
  return startLoop({ name: "keeping the sandbox's wallet", log, pauseMs, round });
}
