import { api } from "../../data/api.ts";
import { useRead } from "../../data/use-read.ts";
import { Section } from "../../parts/head.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";
import { Countdown, Moment } from "../../parts/time.tsx";

/** The bonds that a wallet holds, by maturity. */
export function WalletBonds({ address }: { address: string }) {
  const request = { path: { address } };
  const read = useRead("/api/v1/bonds/by-owner/{address}", request);
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
            ]}
          />
        )}
      </Shown>
    </Section>
  );
}
