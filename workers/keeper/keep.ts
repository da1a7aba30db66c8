import { noteFault } from "../ledger/leases.ts";
import { type Wallet, walletsOf } from "../relayer/wallets.ts";
import { batchesOf } from "./batches.ts";
import type { KeeperContext } from "./context.ts";
import { checkFunds } from "./fault.ts";
import { type FoundWork, findWork } from "./find-work.ts";
import { freeWork } from "./free-work.ts";
import { affordable, type Funds, payableGas } from "./funds.ts";
import { readyWork } from "./ready-work.ts";
import { beginBatch } from "./tasks.ts";
import { watch } from "./watch.ts";
import { keeperPurposes } from "./work.ts";

/** Work that is simulated in one round at most, so that the first batches are sent soon. */
const ROUND = 200;
/** How often the wallet is checked while there is nothing to do, in ms. */
const CHECK_MS = 5000;

/**
 * One round of the keeper: reads what is due, simulates what is not under way, and records batches of it as service transactions,
 * which are signed soon after. Does nothing while another writer has the wallet. Rejects when node or database are down; the
 * next round begins anew.
 * @returns whether there is more to do at once.
 */
export async function keep(context: KeeperContext): Promise<boolean> {
  const [wallet] = walletsOf(context.wallets, "keeper");
  if (!wallet) {
    context.measuredTo = undefined; // the writer that has the wallet measures
    return false;
  }
  const found = await findWork(context);
  if (!found) return false;
  context.meter.due(found.work);
  const isIdle = found.work.length === 0 && performance.now() - context.checkedAt < CHECK_MS;
  if (!isIdle) await checkWallet(context, wallet);
  const { funds } = context;
  if (!funds) return false;
  const isMore = await begin(context, wallet, found, funds);
  await watch(context, found.head.timestamp);
  return isMore;
}

/** Notes for the operator why the wallet cannot send now. */
async function checkWallet(context: KeeperContext, wallet: Wallet): Promise<void> {
  const { sql, meter, log } = context;
  const checked = await checkFunds(context, wallet);
  const { fault } = checked;
  context.funds = checked.fault === undefined ? checked.funds : undefined;
  context.checkedAt = performance.now();
  await noteFault(sql, wallet.lease, fault);
  meter.canSend(fault === undefined);
  if (fault === context.fault) return;
  context.fault = fault;
  if (fault === undefined) log.info({ wallet: wallet.address }, "the keeper can send again");
  else log.error({ wallet: wallet.address, fault }, "the keeper cannot send: due policies are not triggered");
}

/** Records batches of what can be done and paid for. @returns whether there is more to do at once. */
async function begin(
  context: KeeperContext,
  wallet: Wallet,
  found: FoundWork,
  funds: Funds,
): Promise<boolean> {
  const { sql, chainId, multicall3, meter, onBatch } = context;
  const free = await freeWork(context, found);
  const payable = free.filter(({ work }) => payableGas(funds, work.purpose) > 0n);
  const chosen = payable.slice(0, ROUND);
  const ready = await readyWork(context, wallet.address, chosen, found.head);
  let lacksFunds = payable.length < free.length;
  for (const purpose of keeperPurposes) {
    const ofPurpose = ready.filter(({ work }) => work.purpose === purpose);
    const gas = payableGas(funds, purpose);
    const batches = batchesOf(ofPurpose, multicall3, gas);
    const begun = affordable(batches, gas);
    lacksFunds ||= begun.length < batches.length;
    for (const batch of begun) {
      // Another keeper may have been faster with a part of it: the next round sees which.
      if (!(await beginBatch(sql, chainId, wallet.address, batch))) continue;
      meter.begun(batch);
      onBatch();
    }
  }
  noteLack(context, lacksFunds);
  return chosen.length === ROUND && !lacksFunds;
}

/** Tells the operator once that some work waits for ether, or for tomorrow's gas budget. */
function noteLack(context: KeeperContext, lacksFunds: boolean): void {
  if (lacksFunds && !context.lacksFunds)
    context.log.warn(
      "some of the keeper's work waits: its free ether or gas budget is too small; only triggers use the budget's second half",
    );
  context.lacksFunds = lacksFunds;
}
