import type { Schema } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useLiveRead } from "../../data/use-read.ts";
import { Amount } from "../../parts/amount.tsx";
import { Section } from "../../parts/head.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";
import { Countdown, Moment } from "../../parts/time.tsx";
import { redeemBonds, sellBonds, withdrawProceeds } from "./signing/actions.ts";
import { isOwn } from "./signing/connection.ts";
import { ownColumn, RowButton } from "./signing/row-button.tsx";

type Bond = Schema<"BondHolding">;

/** What its owner can do with a bond: a matured one is redeemed, an earlier one can be sold. */
const bondAction = (bond: Bond) =>
  bond.matured ? (
    <RowButton label="Redeem" begins={redeemBonds(bond)} />
  ) : (
    <RowButton label="Sell" begins={sellBonds(bond)} />
  );

/** What the marketplace holds for the wallet's sales; nothing where it holds nothing. */
const Proceeds = ({ address, usdc }: { address: string; usdc: string }) =>
  usdc === "0" ? null : (
    <p class="note">
      The marketplace holds <Amount value={usdc} unit="usdc" least={0} /> from sales of this wallet.{" "}
      {isOwn(address) && <RowButton label="Withdraw" begins={withdrawProceeds} />}
    </p>
  );

/** The bonds that a wallet holds, by maturity, and the proceeds of those that it sold. */
export function WalletBonds({ address }: { address: string }) {
  const request = { path: { address } };
  const read = useLiveRead("/api/v1/bonds/by-owner/{address}", request);
  return (
    <Section title="Bonds">
      <Shown read={read} height={16}>
        {({ bonds, withdrawableUsdc }) => (
          <>
            <Table
              caption="Bonds of the wallet"
              rows={bonds}
              keyOf={({ epochId }) => epochId}
              source={api.address("/api/v1/bonds/by-owner/{address}", request)}
              empty="This wallet holds no bond."
              columns={[
                {
                  head: "Matures",
                  cell: ({ maturityDate }) =>
                    maturityDate === null ? "–" : <Moment at={maturityDate} day />,
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
            <Proceeds address={address} usdc={withdrawableUsdc} />
          </>
        )}
      </Shown>
    </Section>
  );
}
