import type { Schema } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useLiveRead } from "../../data/use-read.ts";
import { Section } from "../../parts/head.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";
import { Countdown, Moment } from "../../parts/time.tsx";
import { redeemBonds, sellBonds } from "./signing/actions.ts";
import { ownColumn, RowButton } from "./signing/row-button.tsx";

type Bond = Schema<"BondHolding">;

/** What its owner can do with a bond: a matured one is redeemed, an earlier one can be sold. */
const bondAction = (bond: Bond) =>
  bond.matured ? (
    <RowButton label="Redeem" begins={redeemBonds(bond)} />
  ) : (
    <RowButton label="Sell" begins={sellBonds(bond)} />
  );

/** The bonds that a wallet holds, by maturity. */
export function WalletBonds({ address }: { address: string }) {
  const request = { path: { address } };
  const read = useLiveRead("/api/v1/bonds/by-owner/{address}", request);
  return (
    <Section title="Bonds">
      <Shown read={read} height={16}>
        {({ bonds }) => (
          <Table
            caption="Bonds of the wallet"
            rows={bonds}
            keyOf={({ epochId }) => epochId}
            source={api.address("/api/v1/bonds/by-owner/{address}", request)}
            empty="This wallet holds no bond."
            columns={[
              {
                head: "Matures",
                cell: ({ maturityDate }) => (maturityDate === null ? "–" : <Moment at={maturityDate} day />),
              },
              {
                head: "In",
                cell: ({ maturityDate }) =>
                  maturityDate === null ? "–" : <Countdown at={maturityDate} over="redeemable" />,
              },
              { head: "Held", unit: "dollars", amount: ({ amount }) => amount },
              ...ownColumn(address, bondAction),
            ]}
          />
        )}
      </Shown>
    </Section>
  );
}
