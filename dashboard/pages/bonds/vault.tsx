import type { AnswerTo } from "../../../client/index.ts";
import { useRead } from "../../data/use-read.ts";
import type { Unit } from "../../format/amount.ts";
import { Amount } from "../../parts/amount.tsx";
import { Figure, Figures } from "../../parts/figures.tsx";
import { Section } from "../../parts/head.tsx";
import { Percent } from "../../parts/percent.tsx";
import { Shares } from "../../parts/shares.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Sources } from "../../parts/sources.tsx";

type Vault = AnswerTo<"/api/v1/stats/vault">;

const NO_PRICE = "The token has no price yet.";
/** Where the token's price comes from. */
const priceNote = (source: string) =>
  source === "vault" ? "by which the vault counts" : `at the newest ${source}`;
/** A dollar in USDC's units. */
const DOLLAR = 1_000_000n;

/** An amount that needs the token's price; a dash without one. */
const Priced = ({ value, unit }: { value: string | null; unit: Unit }) =>
  value === null ? (
    <span title={NO_PRICE}>–</span>
  ) : (
    <Amount value={value} unit={unit} digits={unit === "usdc" ? 2 : 6} bare />
  );

/** What the reserve is already taken for, and what is free for new policies. */
const VaultShares = ({ vault: { obligations_usd, reserved_usdc, capacity_usdc } }: { vault: Vault }) => (
  <Shares
    parts={[
      {
        label: "Owed for bonds",
        weight: BigInt(obligations_usd) * DOLLAR,
        tone: "accent",
        children: <Amount value={obligations_usd} unit="dollars" />,
      },
      {
        label: "Reserved for open policies",
        weight: BigInt(reserved_usdc),
        tone: "risk",
        children: <Amount value={reserved_usdc} unit="usdc" />,
      },
      {
        label: "Free for new policies",
        weight: BigInt(capacity_usdc ?? 0),
        tone: "quiet",
        children:
          capacity_usdc === null ? (
            <span title={NO_PRICE}>unknown</span>
          ) : (
            <Amount value={capacity_usdc} unit="usdc" digits={2} />
          ),
      },
    ]}
  />
);

const VaultFigures = ({ vault }: { vault: Vault }) => (
  <Figures>
    <Figure
      label="Reserve"
      unit="usdc"
      note={
        <>
          <Amount value={vault.reserve_token} unit="token" digits={2} bare /> tokens
        </>
      }
    >
      <Priced value={vault.reserve_usdc} unit="usdc" />
    </Figure>
    <Figure
      label="Price of a token"
      unit="price"
      note={vault.token_price ? priceNote(vault.token_price.source) : NO_PRICE}
    >
      <Priced value={vault.token_price?.price ?? null} unit="price" />
    </Figure>
    <Figure label="Solvency" note="reserve by what is owed">
      <Percent ratio={vault.solvency_ratio} none="Nothing is owed, or the token has no price yet." />
    </Figure>
    <Figure label="In use" note="owed and reserved, by half of the reserve">
      <Percent ratio={vault.utilisation} none={NO_PRICE} />
    </Figure>
  </Figures>
);

/** The vault's reserve against what it has to pay. */
export function Vault() {
  const read = useRead("/api/v1/stats/vault");
  return (
    <Section
      title="Reserve and obligations"
      sentence="Bonds are paid in the protocol’s own tokens, at their price of the day. Below 100 % solvency the reserve does not cover the bonds."
    >
      <Shown read={read} height={16}>
        {(vault) => (
          <>
            <div class="below">
              <VaultFigures vault={vault} />
            </div>
            <VaultShares vault={vault} />
            <div class="below">
              <Sources url="/api/v1/stats/vault" what="Reserve and obligations" />
            </div>
          </>
        )}
      </Shown>
    </Section>
  );
}
