import { api } from "../../data/api.ts";
import { useLiveRead } from "../../data/use-read.ts";
import { Address } from "../../parts/address.tsx";
import { Section } from "../../parts/head.tsx";
import { PolicyName } from "../../parts/policy-name.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";
import { Ago, Countdown } from "../../parts/time.tsx";

export const dueQuery = { limit: 100 };

/** The policies that a trigger would pay now; the keeper sends it, and so may anybody. */
export function DuePolicies() {
  const read = useLiveRead("/api/v1/triggers/due", { query: dueQuery });
  return (
    <Section
      title="Due now"
      sentence="Three rounds of the price feed at or below the trigger price prove a policy; the keeper triggers it within seconds."
    >
      <Shown read={read} height={16}>
        {({ policies }) => (
          <Table
            caption="Due policies"
            rows={policies}
            keyOf={({ productId, policyId }) => `${productId} ${policyId}`}
            source={api.address("/api/v1/triggers/due", { query: dueQuery })}
            empty="No policy is due: no price has stayed at or below a trigger for three rounds, or all were paid."
            columns={[
              { head: "Policy", cell: (policy) => <PolicyName {...policy} /> },
              { head: "Buyer", cell: ({ buyer }) => <Address of={buyer} /> },
              { head: "Payout", unit: "usdc", amount: ({ payoutAmount }) => payoutAmount },
              { head: "Trigger", unit: "price", amount: ({ triggerPrice }) => triggerPrice },
              { head: "Price", unit: "price", amount: ({ currentPrice }) => currentPrice },
              { head: "Met", cell: ({ metAt }) => <Ago at={metAt} /> },
              { head: "Payable for", cell: ({ validUntil }) => <Countdown at={validUntil} /> },
            ]}
          />
        )}
      </Shown>
    </Section>
  );
}
