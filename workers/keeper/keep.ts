import { upkeepGas } from "../../lib/chain/trigger.ts";
import { noteFault } from "../ledger/leases.ts";
import { type Wallet, walletsOf } from "../relayer/wallets.ts";
import {
  affordable,
  batchesOf,
  checkFunds,
  type Funds,
  payableCodeGas,
  payableGas,
  type Ready,
} from "./batches.ts";
import type { KeeperContext } from "./context.ts";
import { type DueTasks, findDueWork } from "./due-tasks.ts";
import { byReceiver } from "./receivers.ts";
import { succeedingTasks } from "./simulate.ts";
import { startableTasks } from "./startable-tasks.ts";
import { keeperPurposes } from "./task.ts";
import { beginBatch } from "./task-records.ts";
import { watch } from "./watch.ts";
import { withWays } from "./ways.ts";

/** Most tasks that are simulated in one round, so that the first batches are sent soon. */
const ROUND = 200;
/** Most of them that run their receivers' code. */
const CODE_ROUND = 10;
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
  const found = await findDueWork(context);
  if (!found) return false;
  const due = await withWays(context, wallet.address, found);
  context.meter.due(due.tasks);
  const isIdle = due.tasks.length === 0 && performance.now() - context.checkedAt < CHECK_MS;
  if (!isIdle) await checkWallet(context, wallet);
  const { funds } = context;
  if (!funds) return false;
  const isMore = await begin(context, wallet, due, funds);
  await watch(context, due.head.timestamp);
  return isMore;
}

/** Notes for the operator why the wallet cannot send now, or the keeper contract not observe. */
async function checkWallet(context: KeeperContext, wallet: Wallet): Promise<void> {
  const { sql, meter, log } = context;
  const checked = await checkFunds(context, wallet);
  const fault = checked.fault ?? context.ways.fault;
  context.funds = checked.fault === undefined ? checked.funds : undefined;
  context.checkedAt = performance.now();
  await noteFault(sql, wallet.lease, fault);
  meter.canSend(fault === undefined);
  if (fault === context.fault) return;
  context.fault = fault;
  if (fault === undefined) log.info({ wallet: wallet.address }, "the keeper can send and observe again");
  else
    log.error(
      { wallet: wallet.address, fault },
      "the keeper cannot send or observe: due policies are not triggered",
    );
}

/** Records batches of what can be done and paid for. @returns whether there is more to do at once. */
async function begin(context: KeeperContext, wallet: Wallet, due: DueTasks, funds: Funds): Promise<boolean> {
  const startable = await startableTasks(context, due);
  const payable = startable.filter(({ task }) => payableGas(funds, task.purpose) > 0n);
  const { plain, withCode } = await byReceiver(context, payable, ROUND);
  const ready = await succeedingTasks(context, wallet.address, plain, due.head, { runCode: false });
  let lacksFunds = payable.length < startable.length;
  for (const purpose of keeperPurposes) {
    const ofPurpose = ready.filter(({ task }) => task.purpose === purpose);
    const areBegun = await beginBatches(context, wallet, ofPurpose, payableGas(funds, purpose));
    lacksFunds ||= !areBegun;
  }
  const gas = payableCodeGas(funds);
  const isShareSpent = withCode.length > 0 && gas < upkeepGas(1);
  noteLack(context, lacksFunds ? LACKS_FUNDS : isShareSpent ? SHARE_SPENT : undefined);
  if (plain.length === ROUND) return !lacksFunds;
  // Strangers' code comes last, a little of it at a time, on a share of the budget.
  const few = isShareSpent ? [] : withCode.slice(0, CODE_ROUND);
  const paying = await succeedingTasks(context, wallet.address, few, due.head, { runCode: true });
  await beginBatches(context, wallet, paying, gas);
  return false;
}

/** Records batches of tasks of one purpose, as far as the gas goes. @returns whether it was enough. */
async function beginBatches(
  { sql, chainId, meter, onBatch }: KeeperContext,
  { address }: Wallet,
  ready: readonly Ready[],
  gas: bigint,
): Promise<boolean> {
  const batches = batchesOf(ready, gas);
  const begun = affordable(batches, gas);
  for (const batch of begun) {
    // Another keeper may have been faster with a part of it: the next round sees which.
    if (!(await beginBatch(sql, chainId, address, batch))) continue;
    meter.begun(batch);
    onBatch();
  }
  return begun.length === batches.length;
}

const LACKS_FUNDS =
  "some of the keeper's work waits: its free ether or gas budget is too small; only triggers use the budget's second half";
const SHARE_SPENT =
  "payouts to contracts wait: their code may use a tenth of the day's gas budget, and that is spent";

/** Tells the operator once why some tasks wait for ether, or for tomorrow's gas budget. */
function noteLack(context: KeeperContext, lack: string | undefined): void {
  if (lack !== undefined && lack !== context.lack) context.log.warn(lack);
  context.lack = lack;
}
