import { findRevert } from "../../lib/chain/reverts.ts";
import { errorText } from "../../lib/log.ts";
import {
  acceptedErrands,
  type ErrandGroup,
  giveUp,
  type OverdueGroup,
  overdueErrands,
  signErrands,
  tryErrandsAgainIn,
  type WantedGroup,
} from "../ledger/errands.ts";
import { LeaseLost } from "../ledger/leases.ts";
import { needsMoreGas } from "../relayer/answers.ts";
import type { Engine } from "../relayer/engine.ts";
import type { Failure } from "../relayer/failures.ts";
import { initialFees } from "../relayer/fees.ts";
import { signCall } from "../relayer/sign.ts";
import type { Wallet } from "../relayer/wallets.ts";
import { chooseErrands } from "./choose.ts";
import { chainSilent, neverSigned, outOfEther, tooMuchGas, wouldRevert } from "./failures.ts";

/** Claims, and errands of the upkeep, that are signed together. */
const ROUND = 50;
/** One that cannot be signed now is tried again so many seconds later. */
const RETRY_SECONDS = 1;
/**
 * Ether goes to addresses that strangers choose, and what a contract does when it gets some is paid by us, and computed by
 * our node in each simulation.
 */
const MAX_GAS = 100_000n;
/** Gas above the simulation's need: what it reads may change before it is mined. */
const withMargin = (gas: bigint) => (gas * 5n) / 4n;

/** What a simulation says against an errand for good; undefined when it was the node that failed. */
function failureOf(purpose: string, error: unknown): Failure | undefined {
  const revert = findRevert(error);
  if (revert) return wouldRevert(purpose, revert);
  return needsMoreGas(error) ? tooMuchGas(MAX_GAS) : undefined;
}

/**
 * Takes errands from `accepted` to `broadcast`: simulates them, gives them nonces, stores their signed bytes, sends them.
 * What is not signed in time is given up, by whichever writer sees it. Rejects when the database is away; the next round
 * finds the rows.
 *
 * @param gasBudget what gas may cost on the chain in a UTC day, in wei.
 */
export function createErrandRelay(engine: Engine, gasBudget: bigint) {
  const { sql, chain, chainId, wallets, market, send, maxFee, onSent, log } = engine;

  async function fail(group: Pick<ErrandGroup, "id" | "claimId">, failure: Failure): Promise<void> {
    if (await giveUp(sql, group, failure)) log.warn({ errand: group.id, ...failure }, "an errand failed");
  }

  async function later(group: ErrandGroup, reason: string): Promise<void> {
    log.warn({ errand: group.id, reason }, "an errand has to wait");
    await tryErrandsAgainIn(sql, group, RETRY_SECONDS);
  }

  /** The group with its gas; undefined when it failed or is to be tried again. */
  async function simulate(wallet: Wallet, group: ErrandGroup): Promise<WantedGroup | undefined> {
    const calls: WantedGroup["calls"][number][] = [];
    for (const { id, purpose, call } of group.errands) {
      try {
        // Once one of a claim's transfers was signed the other is owed, whatever a simulation says.
        const most = group.touched ? undefined : MAX_GAS;
        const gas = await chain.estimateGas({ from: wallet.address, ...call }, most);
        calls.push({ id, call: { ...call, gasLimit: withMargin(gas) } });
      } catch (error) {
        const failure = failureOf(purpose, error);
        if (failure && !group.touched) await fail(group, failure);
        else await later(group, failure?.message ?? errorText(error));
        return undefined;
      }
    }
    return { id: group.id, calls };
  }

  async function relay(wallet: Wallet): Promise<void> {
    const groups = await acceptedErrands(sql, chainId, wallet.address, ROUND);
    if (groups.length === 0) return;
    const wanted = (await Promise.all(groups.map((group) => simulate(wallet, group)))).flatMap(
      (g) => g ?? [],
    );
    if (wanted.length === 0) return;
    const [now, balance] = await Promise.all([market.now(), chain.balance(wallet.address)]);
    const fees = initialFees(now, maxFee);
    const limits = { balance, maxFee: fees?.maxFee ?? maxFee, gasBudget };
    const signed = fees
      ? await signErrands(sql, {
          lease: wallet.lease,
          groups: wanted,
          choose: (candidates, spending) => chooseErrands(candidates, spending, limits),
          sign: (nonce, call) => signCall(wallet, nonce, call, fees),
        })
      : [];
    if (signed.length > 0) onSent();
    const done = new Set(signed.map(({ id }) => id));
    const left = groups.filter(
      ({ id, errands }) =>
        wanted.some((one) => one.id === id) && errands.some((errand) => !done.has(errand.id)),
    );
    const reason = fees
      ? "balance, budget or the operator's stop do not let it"
      : "gas costs more than the cap";
    // In the order of the nonces; bytes that a node did not take are sent again by the recovery.
    const sent = signed.map((one) => send(one.signed));
    await Promise.all(left.map((group) => later(group, reason)));
    await Promise.allSettled(sent);
  }

  /** Why nothing of a group was signed in time, as far as the chain can tell now. */
  const reasonFor = ({ sender, value }: OverdueGroup): Promise<Failure> =>
    chain.balance(sender).then(
      (balance) => (balance <= value ? outOfEther : neverSigned),
      () => chainSilent,
    );

  return async function round(): Promise<void> {
    const overdue = await overdueErrands(sql, chainId);
    // At once: each asks the node, which may be the one that hangs.
    await Promise.all(overdue.map(async (group) => fail(group, await reasonFor(group))));
    for (const wallet of wallets.all()) {
      try {
        await relay(wallet);
      } catch (error) {
        if (!(error instanceof LeaseLost)) throw error;
        wallets.lost(error.lease);
      }
    }
  };
}
