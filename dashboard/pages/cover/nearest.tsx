import type { Schema } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useRead } from "../../data/use-read.ts";
import { bpsText } from "../../format/amount.ts";
import { productLabel } from "../../format/names.ts";
import { Address } from "../../parts/address.tsx";
import { Section } from "../../parts/head.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";
import { Countdown } from "../../parts/time.tsx";

const query = { status: "Active", limit: 100 } as const;

/** Policies whose price is known, the nearest to its trigger first. */
const nearestFirst = (policies: readonly Schema<"FoundPolicy">[]) =>
  [...policies].sort(
    (a, b) =>
      (a.distanceToTriggerBps ?? Number.POSITIVE_INFINITY) -
      (b.distanceToTriggerBps ?? Number.POSITIVE_INFINITY),
  );

/** The price of each active policy's asset against the price that pays it. */
export function NearestPolicies() {
  const read = useRead("/api/v1/policies/all", { query });
  return (
    <Section title="Price against triggers" sentence="The active policies, the nearest to its trigger first.">
      <Shown read={read} height={40}>
        {({ policies, nextCursor }) => (
          <>
            {nextCursor !== null && <p class="note">Of the newest {policies.length} policies.</p>}
            <Table
              caption="Active policies"
              rows={nearestFirst(policies)}
              keyOf={({ productId, policyId, txHash }) => `${productId} ${policyId} ${txHash}`}
              source={api.address("/api/v1/policies/all", { query })}
              empty="No policy is active."
              columns={[
                {
                  head: "Policy",
                  cell: ({ productName, policyId }) => `${productLabel(productName)}, ${policyId}`,
                },
                { head: "Buyer", cell: ({ buyer }) => <Address of={buyer} /> },
                { head: "Coverage", unit: "usdc", amount: ({ coverageAmount }) => coverageAmount },
                { head: "Price", unit: "price", amount: ({ currentPrice }) => currentPrice },
                { head: "Trigger", unit: "price", amount: ({ triggerPrice }) => triggerPrice },
                {
                  head: "Between them",
                  numeric: true,
                  cell: ({ distanceToTriggerBps }) =>
                    distanceToTriggerBps === null ? "–" : bpsText(distanceToTriggerBps),
                  sortBy: ({ distanceToTriggerBps }) => distanceToTriggerBps ?? Number.POSITIVE_INFINITY,
                },
                { head: "Ends in", cell: ({ expiresAt }) => <Countdown at={expiresAt} /> },
              ]}
            />
          </>
        )}
      </Shown>
    </Section>
  );
}
