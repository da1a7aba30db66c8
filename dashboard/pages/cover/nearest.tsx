import { api } from "../../data/api.ts";
import { useRead } from "../../data/use-read.ts";
import { bpsText, counted } from "../../format/amount.ts";
import { Address } from "../../parts/address.tsx";
import { PolicyName } from "../../parts/policy-name.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";
import { Countdown } from "../../parts/time.tsx";
import { Word } from "../../parts/word.tsx";

/** Rows of the table; the links below it lead to all of them. */
const LIMIT = 50;

/** How far a price has to fall to a trigger; at or below it the policy is paid after three rounds. */
const Distance = ({ bps }: { bps: number | null }) =>
  bps !== null && bps <= 0 ? (
    <Word tone="risk">At the trigger</Word>
  ) : (
    <span>{bps === null ? "–" : bpsText(bps)}</span>
  );

/** Of all active policies, or those of a product, the nearest to their trigger. */
export function NearestPolicies({ product }: { product: string | undefined }) {
  const query = { ...(product === undefined ? {} : { product }), limit: LIMIT };
  const read = useRead("/api/v1/policies/nearest", { query });
  return (
    <Shown read={read} height={40}>
      {({ policies, total }) => (
        <>
          {total > policies.length && (
            <p class="note">
              The nearest {policies.length} of {counted(total, "active policy", "active policies")}.
            </p>
          )}
          <Table
            caption="Active policies"
            rows={policies}
            keyOf={({ productId, policyId }) => `${productId} ${policyId}`}
            source={api.address("/api/v1/policies/nearest", { query })}
            empty="No policy is active."
            columns={[
              { head: "Policy", cell: (policy) => <PolicyName {...policy} /> },
              { head: "Buyer", cell: ({ buyer }) => <Address of={buyer} /> },
              { head: "Coverage", unit: "usdc", amount: ({ coverageAmount }) => coverageAmount },
              { head: "Price", unit: "price", amount: ({ currentPrice }) => currentPrice },
              { head: "Trigger", unit: "price", amount: ({ triggerPrice }) => triggerPrice },
              {
                head: "Between them",
                numeric: true,
                cell: ({ distanceToTriggerBps }) => <Distance bps={distanceToTriggerBps} />,
                sortBy: ({ distanceToTriggerBps }) => distanceToTriggerBps ?? Number.POSITIVE_INFINITY,
              },
              { head: "Ends in", cell: ({ expiresAt }) => <Countdown at={expiresAt} /> },
            ]}
          />
        </>
      )}
    </Shown>
  );
}
