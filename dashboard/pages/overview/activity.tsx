import type { ComponentChildren } from "preact";
import type { AnswerTo } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useLiveRead, useRead } from "../../data/use-read.ts";
import type { Unit } from "../../format/amount.ts";
import { bySource } from "../../format/sources.ts";
import { Address, Hash } from "../../parts/address.tsx";
import { Amount } from "../../parts/amount.tsx";
import { Section } from "../../parts/head.tsx";
import { PolicyName } from "../../parts/policy-name.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";
import { type Tone, Word } from "../../parts/word.tsx";

const query = { limit: 12 };

type Event = AnswerTo<"/api/v1/stats/activity">["events"][number];

/** What an event is called, and what its amount is counted in. */
const kinds: Readonly<Record<Event["type"], { word: string; tone: Tone; unit: Unit }>> = {
  policy_purchased: { word: "Policy bought", tone: "accent", unit: "usdc" },
  bond_minted: { word: "Policy paid", tone: "paid", unit: "dollars" },
  bond_redeemed: { word: "Bond redeemed", tone: "paid", unit: "dollars" },
  marketplace_buy: { word: "Bond sold", tone: "quiet", unit: "usdc" },
  token_burned: { word: "Tokens burned", tone: "burned", unit: "token" },
};

/** Policy, bond or listing of an event, in words. */
function subjectOf({ type, ref }: Event, products: ReadonlyMap<string, string | null>): ComponentChildren {
  if (type === "policy_purchased") {
    const [productId = "", policyId = ""] = ref.split(":");
    const productName = products.get(productId) ?? null;
    return <PolicyName productId={productId} productName={productName} policyId={policyId} />;
  }
  if (type === "marketplace_buy") return `Listing ${ref}`;
  if (type === "token_burned") return bySource(ref);
  return `Bond ${ref.slice(0, 4)}-${ref.slice(4)}`;
}

/** What happened last; new events slide in. */
export function Activity() {
  const read = useLiveRead("/api/v1/stats/activity", { query });
  const stats = useRead("/api/v1/stats/products");
  const health = useRead("/health");
  const products = new Map(
    stats.state === "ready" || stats.state === "stale"
      ? stats.body.products.map(({ product_id, product_name }) => [product_id, product_name])
      : [],
  );
  const explorer = health.state === "ready" ? health.body.chain.explorerUrl : null;
  return (
    <Section title="Activity">
      <Shown read={read} height={40}>
        {({ events }) => (
          <Table
            caption="The newest events"
            rows={events}
            keyOf={({ tx_hash, log_index }) => `${tx_hash} ${log_index}`}
            source={api.address("/api/v1/stats/activity", { query })}
            empty="Nothing has happened yet. Purchases, payouts, sales and burns appear here by themselves."
            columns={[
              {
                head: "Event",
                cell: ({ type }) => <Word tone={kinds[type].tone}>{kinds[type].word}</Word>,
              },
              { head: "Of", cell: (event) => subjectOf(event, products) },
              {
                head: "Amount",
                numeric: true,
                cell: ({ type, amount }) => <Amount value={amount} unit={kinds[type].unit} digits={6} />,
              },
              { head: "When", cell: ({ block_timestamp }) => <Ago at={block_timestamp} /> },
              { head: "Wallet", cell: ({ actor }) => <Address of={actor} /> },
              { head: "Transaction", cell: ({ tx_hash }) => <Hash of={tx_hash} explorer={explorer} /> },
            ]}
          />
        )}
      </Shown>
    </Section>
  );
}
