import type { AnswerTo } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { place } from "../../data/place.ts";
import { useRead } from "../../data/use-read.ts";
import { counted, percentText } from "../../format/amount.ts";
import { epochName } from "../../format/epoch.ts";
import { Address } from "../../parts/address.tsx";
import { Choices } from "../../parts/choices.tsx";
import { Section } from "../../parts/head.tsx";
import { cursorInView, PageLinks } from "../../parts/page-links.tsx";
import { Percent, ratioOrder } from "../../parts/percent.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";
import { Concentration } from "./concentration.tsx";

export type BondHolders = AnswerTo<"/api/v1/stats/holders">;

const LIMIT = 25;
/** Where month and cursor are in the address. */
const MONTH = "month";
const CURSOR = "holders-after";
const ALL = "all";

/** The month in the address, YYYYMM; undefined for all. */
function monthInView(): string | undefined {
  const month = place.value.view.get(MONTH) ?? "";
  return /^\d{6}$/.test(month) ? month : undefined;
}

/** “The ten largest of 42 holders have 81.2 % of all bonds.” */
function sentenceOf({ holders_total, top_10_share }: BondHolders, month: string | undefined): string {
  const bonds = month === undefined ? "all bonds" : `the bonds of ${epochName(month)}`;
  if (top_10_share === null) return `Nobody holds ${month === undefined ? "bonds" : bonds} now.`;
  if (holders_total <= 10) return `${counted(holders_total, "wallet holds", "wallets hold")} ${bonds}.`;
  return `The ten largest of ${counted(holders_total, "holder", "holders")} have ${percentText(top_10_share, 2)} of ${bonds}.`;
}

const HolderTable = ({ body, source }: { body: BondHolders; source: string }) => (
  <Table
    caption="Holders of bonds"
    rows={body.holders}
    keyOf={({ holder }) => holder}
    source={source}
    empty="Nobody holds bonds now. Buyers get them when their policies are paid."
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
);

const MonthTable = ({ months }: { months: BondHolders["by_epoch"] }) => (
  <Table
    caption="Holders by month of maturity"
    rows={months}
    keyOf={({ epoch_id }) => epoch_id}
    empty="No bond exists yet."
    columns={[
      {
        head: "Matures in",
        cell: ({ epoch_id }) => epochName(epoch_id),
        sortBy: ({ epoch_id }) => BigInt(epoch_id),
      },
      { head: "Holders", unit: "count", amount: ({ holders }) => holders },
      { head: "Bonds", unit: "dollars", amount: ({ outstanding_usd }) => outstanding_usd },
    ]}
  />
);

/** The months whose bonds somebody holds, as links; a new month begins with its largest holder. */
const Months = ({ months, month }: { months: BondHolders["by_epoch"]; month: string | undefined }) => (
  <Choices
    name={MONTH}
    label="Month of maturity"
    chosen={month ?? ALL}
    resets={CURSOR}
    options={[
      { value: ALL, label: "All months" },
      ...months
        .filter(({ outstanding_usd }) => outstanding_usd !== "0")
        .map(({ epoch_id }) => ({ value: epoch_id, label: epochName(epoch_id) })),
    ]}
  />
);

/** Who holds the bonds, the largest first, and how much is in few hands. */
export function Holders() {
  const month = monthInView();
  const cursor = cursorInView(CURSOR);
  const query = {
    limit: LIMIT,
    ...(month === undefined ? {} : { epoch: month }),
    ...(cursor === undefined ? {} : { cursor }),
  };
  const read = useRead("/api/v1/stats/holders", { query });
  const all = useRead("/api/v1/stats/holders", { query: { limit: LIMIT } });
  return (
    <Section
      title="Holders"
      controls={<Shown read={all}>{({ by_epoch }) => <Months months={by_epoch} month={month} />}</Shown>}
    >
      <Shown read={read} height={40}>
        {(body) => (
          <>
            <p class="lead">{sentenceOf(body, month)}</p>
            {cursor === undefined && <Concentration body={body} />}
            <div class="side-by-side">
              <div>
                <HolderTable
                  key={`${month} ${cursor}`}
                  body={body}
                  source={api.address("/api/v1/stats/holders", { query })}
                />
                <PageLinks name={CURSOR} next={body.next_cursor} what="holders" />
              </div>
              <MonthTable months={body.by_epoch} />
            </div>
          </>
        )}
      </Shown>
    </Section>
  );
}
