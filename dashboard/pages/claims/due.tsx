import { api } from "../../data/api.ts";
import { useLiveRead } from "../../data/use-read.ts";
import { Address } from "../../parts/address.tsx";
import { Section } from "../../parts/head.tsx";
import { PolicyName } from "../../parts/policy-name.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";
import { Countdown } from "../../parts/time.tsx";

export const dueQuery = { limit: 100 };

/** The policies that can be observed now; the keeper does it, and so may anybody. */
export function DuePolicies() {
  const read = useLiveRead("/api/v1/triggers/due", { query: dueQuery });
  return (
    <Section
      title="Due now"
      sentence="A policy is paid by three observations in a row of a price at or below its trigger, at least a minute apart; the keeper makes each as soon as it can."
    >
      <Shown read={read} height={16}>
        {({ policies }) => (
          <Table
            caption="Due policies"
            rows={policies}
            keyOf={({ productId, policyId }) => `${productId} ${policyId}`}
            source={api.address("/api/v1/triggers/due", { query: dueQuery })}
            empty="No policy is due: no price is at or below a trigger, or each was observed less than a minute ago."
            columns={[
              { head: "Policy", cell: (policy) => <PolicyName {...policy} /> },
              { head: "Buyer", cell: ({ buyer }) => <Address of={buyer} /> },
              { head: "Payout", unit: "usdc", amount: ({ payoutAmount }) => payoutAmount },
              { head: "Trigger", unit: "price", amount: ({ triggerPrice }) => triggerPrice },
              { head: "Price", unit: "price", amount: ({ currentPrice }) => currentPrice },
              { head: "Observation", numeric: true, cell: ({ observation }) => `${observation} of 3` },
              { head: "In time for", cell: ({ observeUntil }) => <Countdown at={observeUntil} /> },
            ]}
          />
        )}
      </Shown>
    </Section>
  );
}
