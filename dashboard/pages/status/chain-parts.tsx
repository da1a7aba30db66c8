import type { Schema } from "../../../client/index.ts";
import { type Pulse, pulse } from "../../data/heartbeat.ts";
import { counted, whole } from "../../format/amount.ts";
import { duration } from "../../format/time.ts";
import { Figure, Figures } from "../../parts/figures.tsx";
import { type Tone, Word } from "../../parts/word.tsx";

type Health = Schema<"Health">;

const indexWords: Readonly<Record<Pulse["state"], [word: string, tone: Tone]>> = {
  connecting: ["Asking", "quiet"],
  synced: ["In step", "good"],
  lagging: ["Behind", "risk"],
  syncing: ["Reading history", "risk"],
  index_away: ["Away", "fault"],
  api_away: ["Unknown", "fault"],
};

function IndexFigure() {
  const now = pulse.value;
  const [word, tone] = indexWords[now.state];
  const position = "position" in now ? now.position : undefined;
  return (
    <Figure
      label="Index"
      note={
        position &&
        `block ${whole(position.block)}, ${counted(position.head - position.block, "block", "blocks")} behind`
      }
    >
      <Word tone={tone}>{word}</Word>
    </Figure>
  );
}

/** A delivery that waits so long is late, in seconds: a writer takes one that is due within two. */
const LATE = 60;

function WebhooksFigure({ webhooks }: { webhooks: Health["webhooks"] }) {
  if (!webhooks)
    return (
      <Figure label="Webhooks">
        <Word tone="quiet">Unknown</Word>
      </Figure>
    );
  const { pending, oldestDueSeconds: late } = webhooks;
  return (
    <Figure label="Webhooks" note={counted(pending, "delivery waits", "deliveries wait")}>
      {late === null || late < LATE ? (
        <Word tone="good">In time</Word>
      ) : (
        <Word tone="risk">{duration(late)} late</Word>
      )}
    </Figure>
  );
}

/** Chain, index and API at a glance, then every fault in a sentence. */
export const ChainParts = ({
  health: { chain, reasons, relayers, keeper, webhooks, uptimeSeconds, version, release },
}: {
  health: Health;
}) => (
  <>
    <Figures>
      <Figure
        label={chain.name}
        note={
          chain.block === null
            ? `chain ${chain.chainId}`
            : `block ${whole(chain.block)}, chain ${chain.chainId}`
        }
      >
        {chain.rpcConnected ? <Word tone="good">Answers</Word> : <Word tone="fault">Silent</Word>}
      </Figure>
      <IndexFigure />
      <Figure label="Relayers" note="wallets that send purchases">
        {relayers.length === 0 ? <Word tone="fault">None</Word> : whole(relayers.length)}
      </Figure>
      <Figure label="Keeper" note="triggers due policies">
        {keeper === null ? <Word tone="risk">None</Word> : <Word tone="good">Runs</Word>}
      </Figure>
      <WebhooksFigure webhooks={webhooks} />
      <Figure label="API" note={`version ${version}, release ${release}`}>
        up {duration(uptimeSeconds)}
      </Figure>
    </Figures>
    {reasons.length > 0 && (
      <ul class="reasons">
        {reasons.map(({ code, message }) => (
          <li key={code}>
            {message} <code>{code}</code>
          </li>
        ))}
      </ul>
    )}
  </>
);
