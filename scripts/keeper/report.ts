/** Prints an audit as tables. */

import { type NeverPayableReason, neverPayableReasons } from "../../lib/keeper-audit.ts";
import { entryById } from "../../lib/products.ts";
import type { Audit, BlockTime, MissedPolicy } from "../../workers/keeper/audit/audit.ts";
import type { Downtime } from "../../workers/keeper/audit/replay.ts";
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

function payoutText({ payout }: MissedPolicy): string {
  switch (payout.is) {
    case "confirmed":
      return "confirmed";
    case "refused":
    case "unpayable":
      return payout.reason;
    case "undecided":
      return `undecided: ${payout.reason}`;
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
      payoutText(one),
    ]),
  );
}

const reasonTexts: Readonly<Record<NeverPayableReason, string>> = {
  price_oracle: "the token had no price",
  capacity: "the bond did not fit into the vault's capacity",
  receiver: "the buyer is a contract that took no bond",
  no_way: "the keeper contract was paused, or not the adapter's keeper",
  sequencer_down: "the sequencer was down, or up for less than an hour",
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
    [
      "missed, and the buyer has code, which may have refused the bonds",
      String(found.missedContracts.length),
    ],
    ["not payable, for an unknown reason, or undecided", String(found.refused.length)],
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
  printMissed("Missed: the third observation could have been made in these blocks", found.missed);
  if (downtime.length > 0) printMissed("Missed while the service was down", found.missedWhileDown);
  if (found.missedContracts.length > 0)
    printMissed("Missed, and the buyer has code, which may have refused the bonds", found.missedContracts);
  if (found.refused.length > 0)
    printMissed("Not payable, for an unknown reason, or undecided", found.refused);
  if (found.neverPayable.length > 0)
    printTable(
      "Not payable, for a known reason",
      [...policyColumns, "reason"],
      found.neverPayable.map(({ policy, reason }) => [...policyCells(policy), reasonTexts[reason]]),
    );
  printTable(
    "Due now",
    ["product", "policy", "buyer", "observation", "at the latest"],
    found.due.map(({ productId, policyId, buyer, observation, lastMoment }) => [
      productText(productId),
      String(policyId),
      addressText(buyer),
      String(observation),
      isoTime(lastMoment),
    ]),
  );
}
