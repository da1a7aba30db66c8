import { together, useRead } from "../../data/use-read.ts";
import { counted } from "../../format/amount.ts";
import { Amount } from "../../parts/amount.tsx";
import { Figure, Figures } from "../../parts/figures.tsx";
import { Percent } from "../../parts/percent.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Word } from "../../parts/word.tsx";

export function OverviewFigures() {
  const read = together({
    cover: useRead("/api/v1/stats/cover"),
    products: useRead("/api/v1/stats/products"),
    protocol: useRead("/api/v1/stats/protocol"),
    vault: useRead("/api/v1/stats/vault"),
  });
  return (
    <Shown read={read} height={16}>
      {({ cover, products: { total }, protocol, vault }) => (
        <Figures>
          <Figure
            label="Active cover"
            unit="usdc"
            note={counted(cover.active.policies, "policy", "policies")}
          >
            <Amount value={cover.active.coverage} unit="usdc" bare />
          </Figure>
          <Figure label="Premiums" unit="usdc" note={`of ${counted(total.policies, "policy", "policies")}`}>
            <Amount value={protocol.total_premium_collected} unit="usdc" bare />
          </Figure>
          <Figure
            label="Payouts"
            unit="dollars"
            note={
              <>
                {counted(protocol.policies_triggered, "policy", "policies")} <Word tone="paid">paid</Word> in
                bonds
              </>
            }
          >
            <Amount value={total.paid} unit="dollars" bare />
          </Figure>
          <Figure label="Loss ratio" note="payouts by premiums">
            <Percent ratio={total.loss_ratio} none="No premium was paid yet." />
          </Figure>
          <Figure label="Vault in use" note={<VaultNote capacity={vault.capacity_usdc} />}>
            <Percent ratio={vault.utilisation} none="The token has no price yet." />
          </Figure>
          <Figure
            label="Burned"
            unit="token"
            note={
              <>
                of 100 million; <Word tone="burned">gone</Word> for good
              </>
            }
          >
            <Amount value={protocol.token_total_burned} unit="token" digits={2} bare />
          </Figure>
        </Figures>
      )}
    </Shown>
  );
}

const VaultNote = ({ capacity }: { capacity: string | null }) =>
  capacity === null ? (
    <>its capacity is unknown</>
  ) : (
    <>
      <Amount value={capacity} unit="usdc" digits={0} /> free
    </>
  );
