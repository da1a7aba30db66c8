import { together, useRead } from "../../data/use-read.ts";
import { counted } from "../../format/amount.ts";
import { Amount } from "../../parts/amount.tsx";
import { Head } from "../../parts/head.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Expiries } from "./expiries.tsx";
import { PricesAgainstTriggers } from "./prices.tsx";
import { Quotes } from "./quotes.tsx";

/** “6 policies cover 13,050 USDC; 5,683,775 USDC of payouts can still be sold.” */
function CoverSentence() {
  const read = together({ cover: useRead("/api/v1/stats/cover"), vault: useRead("/api/v1/stats/vault") });
  return (
    <Shown read={read}>
      {({ cover: { active }, vault: { capacity_usdc } }) => (
        <>
          {active.policies === 0 ? (
            "No policy is active"
          ) : (
            <>
              {counted(active.policies, "policy covers", "policies cover")}{" "}
              <Amount value={active.coverage} unit="usdc" least={0} />
            </>
          )}
          ;{" "}
          {capacity_usdc === null ? (
            "how much can still be sold is unknown, for the token has no price yet."
          ) : (
            <>
              <Amount value={capacity_usdc} unit="usdc" digits={0} /> of payouts can still be sold.
            </>
          )}
        </>
      )}
    </Shown>
  );
}

/** What can be bought, and what is covered now. */
export default function Cover() {
  return (
    <>
      <Head title="Cover">
        <CoverSentence />
      </Head>
      <PricesAgainstTriggers />
      <Quotes />
      <Expiries />
    </>
  );
}
