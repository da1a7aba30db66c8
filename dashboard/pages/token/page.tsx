import { useRead } from "../../data/use-read.ts";
import { counted } from "../../format/amount.ts";
import { Amount } from "../../parts/amount.tsx";
import { Head } from "../../parts/head.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Burners } from "./burners.tsx";
import { Burns } from "./burns.tsx";
import { NewestBurns } from "./newest-burns.tsx";
import { PriceHistory } from "./price-history.tsx";

/** “139,409.55 PCT were burned by 15 burns, 5,380.93 PCT of them within 30 days.” */
function TokenSentence() {
  const read = useRead("/api/v1/stats/burns");
  return (
    <Shown read={read}>
      {({ burns_count, total_token_burned, last_30_days_burned }) =>
        burns_count === 0 ? (
          <>No token has been burned yet. Premiums and fees buy tokens, and burn them.</>
        ) : (
          <>
            <Amount value={total_token_burned} unit="token" digits={2} /> were burned by{" "}
            {counted(burns_count, "burn", "burns")},{" "}
            <Amount value={last_30_days_burned} unit="token" digits={2} /> of them within 30 days.
          </>
        )
      }
    </Shown>
  );
}

/** What becomes of premiums and fees: the tokens that they buy are burned. */
export default function Token() {
  return (
    <>
      <Head title="Token">
        <TokenSentence />
      </Head>
      <Burns />
      <NewestBurns />
      <Burners />
      <PriceHistory />
    </>
  );
}
