import type { Schema } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useLiveRead } from "../../data/use-read.ts";
import { bpsText } from "../../format/amount.ts";
import { productLabel } from "../../format/names.ts";
import { Section } from "../../parts/head.tsx";
import { cursorInView, PageLinks } from "../../parts/page-links.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";
import { Countdown, Moment } from "../../parts/time.tsx";
import { PolicyStatus } from "../../parts/word.tsx";
import { claimPolicy } from "./signing/actions.ts";
import { ownColumn, RowButton } from "./signing/row-button.tsx";

/** Policies of a page: a wallet may have ten thousand. */
const PAGE = 25;
/** Where the cursor is in the address. */
const CURSOR = "policies-after";

type Policy = Schema<"IndexedPolicy">;

/** How far the price is above the trigger, for a policy that can still be paid. */
const distanceOf = ({ distanceToTriggerBps, status }: Policy): string =>
  distanceToTriggerBps === null || status !== "Active" ? "–" : bpsText(distanceToTriggerBps);

/** Whether the newest price is at or below the trigger: three such rounds make a policy due. */
const isBelowTrigger = ({ distanceToTriggerBps }: Policy): boolean =>
  distanceToTriggerBps !== null && distanceToTriggerBps <= 0;

/** An active policy can be asked for at any time: what it lacks is said before anything is signed. */
const policyAction = (policy: Policy) =>
  policy.status === "Active" ? (
    <RowButton label={isBelowTrigger(policy) ? "Claim" : "Check"} begins={claimPolicy(policy)} />
  ) : null;

/** The policies that a wallet has bought, newest first. */
export function WalletPolicies({ address }: { address: string }) {
  const cursor = cursorInView(CURSOR);
  const request = { path: { address }, query: { limit: PAGE, cursor } };
  const read = useLiveRead("/api/v1/policies/by-buyer/{address}", request);
  return (
    <Section title="Policies">
      <Shown read={read} height={40}>
        {({ policies, nextCursor }) => (
          <>
            <Table
              key={cursor}
              caption="Policies of the wallet"
              rows={policies}
              keyOf={({ productId, policyId, txHash }) => `${productId} ${policyId} ${txHash}`}
              source={api.address("/api/v1/policies/by-buyer/{address}", request)}
              empty="This wallet has bought no policy."
              columns={[
                {
                  head: "Policy",
                  cell: ({ productName, policyId }) => `${productLabel(productName)}, ${policyId}`,
                },
                { head: "Status", cell: ({ status }) => <PolicyStatus status={status} /> },
                { head: "Coverage", unit: "usdc", amount: ({ coverageAmount }) => coverageAmount },
                { head: "Payout", unit: "usdc", amount: ({ payoutAmount }) => payoutAmount },
                { head: "Premium", unit: "usdc", amount: ({ premiumPaid }) => premiumPaid },
                { head: "To the trigger", numeric: true, cell: distanceOf },
                { head: "Bought", cell: ({ purchasedAt }) => <Moment at={purchasedAt} /> },
                { head: "Ends in", cell: ({ expiresAt }) => <Countdown at={expiresAt} /> },
                ...ownColumn(address, policyAction),
              ]}
            />
            <PageLinks name={CURSOR} next={nextCursor} what="policies" />
          </>
        )}
      </Shown>
    </Section>
  );
}
