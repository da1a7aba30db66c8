/** Prints an audit as tables. */

import { type NeverPayableReason, neverPayableReasons } from "../../lib/keeper-audit.ts";
import { entryById } from "../../lib/products.ts";
import type { Audit, BlockTime, MissedPolicy } from "../../workers/keeper/audit/audit.ts";
import type { Downtime } from "../../workers/keeper/audit/downtime.ts";
import type { SoldPolicy } from "../../workers/keeper/from-chain/history.ts";
import { addressText, dollars, printTable } from "../ledger/format.ts";

const isoTime = (seconds: bigint): string =>
  new Date(Number(seconds) * 1000).toISOString().replace(".000Z", "Z");

/** The product's name in the catalogue, or else its id. */
const productText = (productId: string): string => entryById(productId)?.name ?? productId;

const policyColumns = ["product", "policy", "buyer", "coverage", "payout"];
const policyCells = ({ productId, policyId, buyer, coverage, payout }: SoldPolicy): string[] => [
  productText(productId),
  String(policyId),
  addressText(buyer),
  dollars(coverage),
  dollars(payout),
];

function confirmationText({ confirmation }: MissedPolicy): string {
  switch (confirmation.is) {
    case "confirmed":
      return "confirmed";
    case "refused":
      return confirmation.reason;
    case "no_state":
      return "not asked: no old state";
  }
}

const blockCells = ({ block, time }: BlockTime): string[] => [String(block), isoTime(time)];

function printMissed(title: string, missed: readonly MissedPolicy[]): void {
  printTable(
    title,
    [...policyColumns, "first block", "at", "last block", "at", "the chain says"],
    missed.map((one) => [
      ...policyCells(one.policy),
      ...blockCells(one.first),
      ...blockCells(one.last),
      confirmationText(one),
    ]),
  );
}

const reasonTexts: Readonly<Record<NeverPayableReason, string>> = {
  sequencer_down: "the sequencer was down, or up for less than an hour",
  paused: "the global pause was on",
  sequencer_down_and_paused: "the sequencer was down and the global pause was on",
  last_block: "the third round came in the last block of the window",
  stale: "the rounds were older than an hour in every block",
  payout_too_small: "the payout is less than a dollar",
};

function countRows(found: Audit): string[][] {
  const reasons = neverPayableReasons.map((reason) => {
    const count = found.neverPayable.filter((one) => one.reason === reason).length;
    return [`never payable: ${reasonTexts[reason]}`, String(count)];
  });
  return [
    ["triggered", String(found.triggered)],
    ["missed", String(found.missed.length)],
    ["missed in stated downtime", String(found.missedWhileDown.length)],
    ["missed by our reasoning, refused by the chain", String(found.refused.length)],
    ...reasons,
    ["not met", String(found.notMet)],
    ["not judged: the terms are not known", String(found.unknown.length)],
    ["still open", String(found.open)],
    ["due now", String(found.due.length)],
  ];
}

/** Prints the counts, and every policy that was missed, refused, never payable or is due. */
export function printAudit(found: Audit, downtime: readonly Downtime[]): void {
  const { range, until } = found;
  console.log(`The policies that ended in blocks ${range.from} to ${range.to} (${isoTime(until.timestamp)})`);
  for (const { from, to } of downtime) console.log(`Stated downtime: ${isoTime(from)} to ${isoTime(to)}`);
  printTable("Policies", ["", "count"], countRows(found));
  printMissed("Missed: triggers in these blocks would have been paid", found.missed);
  if (downtime.length > 0) printMissed("Missed while the service was down", found.missedWhileDown);
  if (found.refused.length > 0)
    printMissed("Payable by our reasoning, refused by the chain: one of them is wrong", found.refused);
  if (found.neverPayable.length > 0)
    printTable(
      "The price was met, and no trigger would have been paid",
      [...policyColumns, "reason"],
      found.neverPayable.map(({ policy, reason }) => [...policyCells(policy), reasonTexts[reason]]),
    );
  printTable(
    "Due now",
    ["product", "policy", "buyer", "until"],
    found.due.map(({ productId, policyId, buyer, expiresAt }) => [
      productText(productId),
      String(policyId),
      addressText(buyer),
      expiresAt === null ? "–" : isoTime(expiresAt),
    ]),
  );
}
