import { together, useRead } from "../../data/use-read.ts";
import { counted } from "../../format/amount.ts";
import { Amount } from "../../parts/amount.tsx";
import { Link } from "../../parts/link.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Word } from "../../parts/word.tsx";

/** The list of due policies is read for its number only; more than a page are “100 or more”. */
const DUE_LIMIT = 100;

/** How many policies a trigger would pay now. */
const Due = ({ count }: { count: number }) =>
  count === 0 ? (
    <>none is due</>
  ) : (
    <Link to="/claims">
      <Word tone="risk">
        {count === DUE_LIMIT ? `${DUE_LIMIT} or more are` : counted(count, "is", "are")} due
      </Word>
    </Link>
  );

/** “27 policies cover 214,350 USDC; 5 were paid, none is due.” */
export function OverviewSentence() {
  const read = together({
    cover: useRead("/api/v1/stats/cover"),
    protocol: useRead("/api/v1/stats/protocol"),
    due: useRead("/api/v1/triggers/due", { query: { limit: DUE_LIMIT } }),
  });
  return (
    <Shown read={read}>
      {({ cover: { active }, protocol, due }) =>
        protocol.policies_total === 0 ? (
          <>No policy has been bought yet. The first purchase appears here by itself.</>
        ) : (
          <>
            {active.policies === 0 ? (
              <>No policy is active</>
            ) : (
              <>
                {counted(active.policies, "policy covers", "policies cover")}{" "}
                <Amount value={active.coverage} unit="usdc" least={0} />
              </>
            )}
            ; {counted(protocol.policies_triggered, "was", "were")} paid so far,{" "}
            <Due count={due.policies.length} />.
          </>
        )
      }
    </Shown>
  );
}
