import { together, useRead } from "../../data/use-read.ts";
import { counted } from "../../format/amount.ts";
import { Amount } from "../../parts/amount.tsx";
import { Head } from "../../parts/head.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Word } from "../../parts/word.tsx";
import { DuePolicies, dueQuery } from "./due.tsx";
import { TriggerEvaluation } from "./evaluation.tsx";
import { KeeperAudit } from "./keeper.tsx";
import { PaidClaims } from "./paid.tsx";

/** “5 policies were paid 175,600 USD in bonds, none is due.” */
function ClaimsSentence() {
  const read = together({
    protocol: useRead("/api/v1/stats/protocol"),
    products: useRead("/api/v1/stats/products"),
    due: useRead("/api/v1/triggers/due", { query: dueQuery }),
  });
  return (
    <Shown read={read}>
      {({ protocol: { policies_triggered }, products: { total }, due }) => (
        <>
          {policies_triggered === 0 ? (
            <>No policy has been paid yet</>
          ) : (
            <>
              {counted(policies_triggered, "policy was", "policies were")} paid{" "}
              <Amount value={total.paid} unit="dollars" /> in bonds
            </>
          )}
          ,{" "}
          {due.count === 0 ? (
            "none is due"
          ) : (
            <Word tone="risk">
              {due.nextCursor === null ? "" : "at least "}
              {counted(due.count, "is", "are")} due
            </Word>
          )}
          .
        </>
      )}
    </Shown>
  );
}

/** What was paid, how fast, and what is to be paid now. */
export default function Claims() {
  return (
    <>
      <Head title="Claims">
        <ClaimsSentence />
      </Head>
      <TriggerEvaluation />
      <DuePolicies />
      <PaidClaims />
      <KeeperAudit />
    </>
  );
}
