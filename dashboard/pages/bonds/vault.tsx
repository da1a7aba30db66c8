import type { AnswerTo } from "../../../client/index.ts";
import { useRead } from "../../data/use-read.ts";
import type { Unit } from "../../format/amount.ts";
import { Amount } from "../../parts/amount.tsx";
import { Figure, Figures } from "../../parts/figures.tsx";
import { Percent } from "../../parts/percent.tsx";
import { Shown } from "../../parts/shown.tsx";

const NO_PRICE = "The token has no price yet.";

/** An amount that needs the token's price; a dash without one. */
const Priced = ({ value, unit }: { value: string | null; unit: Unit }) =>
  value === null ? <span title={NO_PRICE}>–</span> : <Amount value={value} unit={unit} digits={2} bare />;

const VaultFigures = ({ vault }: { vault: AnswerTo<"/api/v1/stats/vault"> }) => (
  <Figures>
    <Figure label="Reserve" unit="usdc" note={<Amount value={vault.reserve_token} unit="token" digits={2} />}>
      <Priced value={vault.reserve_usdc} unit="usdc" />
    </Figure>
    <Figure label="Reserved" unit="usdc" note="for policies that may still be paid">
      <Amount value={vault.reserved_usdc} unit="usdc" bare />
    </Figure>
    <Figure label="Obligations" unit="dollars" note="bonds that are not redeemed">
      <Amount value={vault.obligations_usd} unit="dollars" bare />
    </Figure>
    <Figure label="Capacity" unit="usdc" note="payouts that can still be sold">
      <Priced value={vault.capacity_usdc} unit="usdc" />
    </Figure>
    <Figure label="In use" note="reserved by what may be reserved">
      <Percent ratio={vault.utilisation} none={NO_PRICE} />
    </Figure>
    <Figure label="Solvency" note="reserve by what is owed">
      <Percent ratio={vault.solvency_ratio} none="Nothing is owed, or the token has no price yet." />
    </Figure>
  </Figures>
);

/** The vault's reserve against what it owes. */
export function Vault() {
  const read = useRead("/api/v1/stats/vault");
  return (
    <Shown read={read} height={16}>
      {(vault) => <VaultFigures vault={vault} />}
    </Shown>
  );
}
