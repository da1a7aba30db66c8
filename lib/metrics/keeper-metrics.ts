/** The metrics of the keeper. */
import { counter, gauge, histogram } from "./description.ts";

/** In seconds: from the next block of an L2 up to a transaction that waits while fees rise. */
const BUCKETS = [0.5, 1, 2, 3, 5, 10, 20, 30, 60, 120, 300, 900];

export const keeperMetrics = {
  due: gauge(
    "keeper_due",
    "Work that was due when the keeper last looked, by purpose; of expired policies the next hundred",
    ["purpose"],
  ),
  canSend: gauge(
    "keeper_can_send",
    "Whether the keeper could send and observe when it was last checked, 1 or 0",
  ),
  work: counter(
    "keeper_work_total",
    "The keeper's work: put into a transaction, done by somebody else, or failed",
    ["purpose", "outcome"],
  ),
  dueToMinedSeconds: histogram(
    "keeper_due_to_mined_seconds",
    "Time of each observation of a price from the moment it was possible until it was mined, whoever sent it",
    BUCKETS,
  ),
  setAside: gauge(
    "keeper_set_aside",
    "Work that has failed again and again, and is tried more and more seldom",
  ),
  lastLook: gauge(
    "keeper_last_look_seconds",
    "Time since a keeper of the chain that could send last looked for work",
  ),
  missed: counter(
    "keeper_missed_total",
    "Policies that three observations could have paid and that were not paid, by the running audit",
  ),
  missedWhileDown: counter(
    "keeper_missed_while_down_total",
    "Missed policies that could first have been paid while no keeper was at work",
  ),
  missedContracts: counter(
    "keeper_missed_contracts_total",
    "Missed policies whose buyers have code, which may have refused the bonds in a block",
  ),
  auditRefused: counter(
    "keeper_audit_refused_total",
    "Policies whose payout the contracts refused, for a reason that the audit does not know",
  ),
  neverPayable: counter(
    "keeper_never_payable_total",
    "Policies that three observations could have paid but for the reason",
    ["reason"],
  ),
} as const;
