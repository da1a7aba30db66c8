import type { AnswerTo } from "../../../client/index.ts";
import { useRead } from "../../data/use-read.ts";
import { counted, percentText } from "../../format/amount.ts";
import { Address } from "../../parts/address.tsx";
import { Section } from "../../parts/head.tsx";
import { Percent, ratioOrder } from "../../parts/percent.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";

/** “The ten largest of 42 holders have 81.2 % of all bonds.” */
function sentenceOf({ holders_total, top_10_share }: AnswerTo<"/api/v1/stats/holders">): string {
  if (top_10_share === null) return "Nobody holds bonds now.";
  if (holders_total <= 10) return `${counted(holders_total, "wallet holds", "wallets hold")} all bonds.`;
  return `The ten largest of ${counted(holders_total, "holder", "holders")} have ${percentText(top_10_share, 2)} of all bonds.`;
}

/** Who holds the bonds, the largest first. */
export function Holders() {
  const read = useRead("/api/v1/stats/holders");
  return (
    <Shown read={read} height={40}>
      {(body) => (
        <Section title="Holders" sentence={sentenceOf(body)}>
          <Table
            caption="Holders of bonds"
            rows={body.holders}
            keyOf={({ holder }) => holder}
            source="/api/v1/stats/holders"
            empty="Nobody holds bonds now."
            columns={[
              { head: "Holder", cell: ({ holder }) => <Address of={holder} /> },
              { head: "Bonds", unit: "dollars", amount: ({ bonds_usd }) => bonds_usd },
              {
                head: "Share",
                numeric: true,
                cell: ({ share }) => <Percent ratio={share} none="No bond is in circulation." />,
                sortBy: ({ share }) => ratioOrder(share),
              },
            ]}
          />
        </Section>
      )}
    </Shown>
  );
}
