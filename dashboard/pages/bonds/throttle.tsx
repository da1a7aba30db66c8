import { counted } from "../../format/amount.ts";
import { Amount } from "../../parts/amount.tsx";
import { Figure, Figures } from "../../parts/figures.tsx";
import { Shares } from "../../parts/shares.tsx";
import { Countdown } from "../../parts/time.tsx";
import type { RedemptionQueue } from "./queue.tsx";

/** A dollar in USDC's units. */
const DOLLAR = 1_000_000n;

/** What a redemption may take to be paid at once, USDC, if the queue is paid first. Null without a price. */
function paidAtOnce({ throttle, waiting }: RedemptionQueue): bigint | null {
  if (throttle.left_usdc === null) return null;
  const rest = BigInt(throttle.left_usdc) - BigInt(waiting.due_usd) * DOLLAR;
  return rest > 0n ? rest : 0n;
}

/** What is left of the week for redemptions that come now. */
function Free({ queue }: { queue: RedemptionQueue }) {
  const free = paidAtOnce(queue);
  if (free === null) return <>what is paid at once is unknown until the token has a price.</>;
  if (free === 0n) return <>nothing is left of this week’s limit, so a new redemption waits too.</>;
  return (
    <>
      up to <Amount value={free} unit="usdc" digits={2} /> can still be redeemed at once, a tenth of the limit
      by one wallet.
    </>
  );
}

/** “1 redemption waits for 75,000 USD; up to 9,316.12 USDC can still be redeemed at once, a tenth of the limit by one wallet.” */
export function QueueSentence({ queue }: { queue: RedemptionQueue }) {
  const { entries, usd } = queue.waiting;
  return (
    <>
      {entries === 0 ? (
        <>No redemption waits</>
      ) : (
        <>
          {counted(entries, "redemption waits", "redemptions wait")} for <Amount value={usd} unit="dollars" />
        </>
      )}
      ; <Free queue={queue} />
    </>
  );
}

/** What the vault may still pay in this week. */
export const Throttle = ({ queue: { throttle, waiting } }: { queue: RedemptionQueue }) => (
  <>
    <div class="below">
      <Figures>
        <Figure label="Waiting" unit="dollars" note={counted(waiting.entries, "redemption", "redemptions")}>
          <Amount value={waiting.usd} unit="dollars" bare />
        </Figure>
        <Figure label="Due this week" unit="dollars" note="of these">
          <Amount value={waiting.due_usd} unit="dollars" bare />
        </Figure>
        <Figure label="Left this week" unit="usdc" note="at the token’s price">
          {throttle.left_usdc === null ? (
            <span title="The token has no price yet.">–</span>
          ) : (
            <Amount value={throttle.left_usdc} unit="usdc" digits={2} bare />
          )}
        </Figure>
        <Figure label="The next week begins in" note="with a new limit">
          <Countdown at={throttle.ends_at} over="now" />
        </Figure>
      </Figures>
    </div>
    <Shares
      parts={[
        {
          label: "Paid this week",
          weight: BigInt(throttle.paid_token),
          tone: "paid",
          children: <Amount value={throttle.paid_token} unit="token" digits={2} />,
        },
        {
          label: "Left this week",
          weight: BigInt(throttle.left_token),
          tone: "quiet",
          children: <Amount value={throttle.left_token} unit="token" digits={2} />,
        },
      ]}
    />
  </>
);
