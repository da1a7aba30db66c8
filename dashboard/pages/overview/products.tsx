import type { AnswerTo } from "../../../client/index.ts";
import { productLabel } from "../../format/names.ts";
import { Section } from "../../parts/head.tsx";
import { Percent, ratioOrder } from "../../parts/percent.tsx";
import { type Column, Table } from "../../parts/table.tsx";

type ProductStats = AnswerTo<"/api/v1/stats/products">;
type Product = ProductStats["products"][number];

const ratioColumn = (
  head: string,
  ratioOf: (product: Product) => string | null,
  none: string,
): Column<Product> => ({
  head,
  numeric: true,
  cell: (product) => <Percent ratio={ratioOf(product)} none={none} />,
  sortBy: (product) => ratioOrder(ratioOf(product)),
});

/** Which products sell, which lose money, and how often they pay against what their price assumes. */
export const ProductTable = ({ stats }: { stats: ProductStats }) => (
  <Section title="Products" sentence="A modelled rate is the chance of a trigger that the premiums assume.">
    <Table
      caption="Products"
      rows={stats.products}
      keyOf={({ product_id }) => product_id}
      source="/api/v1/stats/products"
      empty="The index knows no product yet."
      columns={[
        {
          head: "Product",
          cell: ({ product_name }) => productLabel(product_name),
          sortBy: ({ product_name }) => product_name ?? "",
        },
        { head: "Policies", unit: "count", amount: ({ policies }) => policies },
        { head: "Active", unit: "count", amount: ({ active }) => active },
        { head: "Paid", unit: "count", amount: ({ triggered }) => triggered },
        { head: "Coverage sold", unit: "usdc", amount: ({ coverage }) => coverage },
        { head: "Premiums", unit: "usdc", amount: ({ premium }) => premium },
        { head: "Payouts", unit: "dollars", amount: ({ paid }) => paid },
        ratioColumn("Loss ratio", ({ loss_ratio }) => loss_ratio, "No premium was paid yet."),
        ratioColumn(
          "Trigger rate",
          ({ realised_trigger_rate }) => realised_trigger_rate,
          "No policy has ended yet.",
        ),
        ratioColumn(
          "Modelled",
          ({ modelled_trigger_rate }) => modelled_trigger_rate,
          "No policy was bought yet.",
        ),
      ]}
    />
  </Section>
);
