import { useEffect, useRef } from "preact/hooks";
import type { AnswerTo } from "../../../client/index.ts";
import { type PolicyKey, policyInView, policyKey } from "../../data/policy-in-view.ts";
import { useRead } from "../../data/use-read.ts";
import { bpsText } from "../../format/amount.ts";
import { Address, Hash } from "../../parts/address.tsx";
import { Amount } from "../../parts/amount.tsx";
import { Figure, Figures } from "../../parts/figures.tsx";
import { Section } from "../../parts/head.tsx";
import { PolicyName } from "../../parts/policy-name.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Moment } from "../../parts/time.tsx";
import { fallBps } from "./fall.ts";
import { ObservationTable } from "./observations.tsx";
import { EvaluationPlot, RoundTable } from "./rounds.tsx";

type Evaluation = AnswerTo<"/api/v1/triggers/{productId}/{policyId}">;

/** The claim that is evaluated where the address names no policy. */
const newestClaim = { limit: 1 };
/** Rounds of an evaluation that are read: a window of two days has some dozens of them. */
const LIMIT = 100;

/** A price beside the reference: how far it is below it. */
const Fall = ({ from, to }: { from: string | null; to: string | null }) => {
  const bps = from === null || to === null ? undefined : fallBps(from, to);
  return bps === undefined ? <>unknown</> : <>{bpsText(bps)} below the reference</>;
};

function EvaluationFigures({ evaluation }: { evaluation: Evaluation }) {
  const { strikePrice, triggerPrice, purchasedAt, payoutAmount, observed, verdict } = evaluation;
  const [newest] = evaluation.observations;
  return (
    <Figures>
      <Figure
        label="Reference"
        unit="price"
        note={
          <>
            bought <Moment at={purchasedAt} />
          </>
        }
      >
        {strikePrice === null ? "unknown" : <Amount value={strikePrice} unit="price" bare />}
      </Figure>
      <Figure label="Trigger" unit="price" note={<Fall from={strikePrice} to={triggerPrice} />}>
        {triggerPrice === null ? "unknown" : <Amount value={triggerPrice} unit="price" bare />}
      </Figure>
      <Figure
        label="Observed"
        unit="count"
        note={newest ? `${bpsText(Number(newest.dropBps))} below the reference` : "not observed yet"}
      >
        {observed} of 3
      </Figure>
      {verdict.code === "triggered" ? (
        <Figure label="Paid" unit="dollars" note={<Moment at={verdict.blockTimestamp} />}>
          <Amount value={verdict.bondAmount} unit="dollars" bare />
        </Figure>
      ) : (
        <Figure label="Payout" unit="usdc" note="not paid">
          <Amount value={payoutAmount} unit="usdc" bare />
        </Figure>
      )}
    </Figures>
  );
}

/** Who sent the trigger of a paid policy, and in which transaction. */
function Submission({ verdict }: { verdict: Evaluation["verdict"] }) {
  const health = useRead("/health");
  if (verdict.code !== "triggered") return null;
  const explorer = health.state === "ready" ? health.body.chain.explorerUrl : null;
  return (
    <>
      {" "}
      Triggered by <Address of={verdict.submitter} /> in <Hash of={verdict.txHash} explorer={explorer} />.
    </>
  );
}

function EvaluationView({ policy }: { policy: PolicyKey }) {
  const request = { path: policy, query: { limit: LIMIT } };
  const read = useRead("/api/v1/triggers/{productId}/{policyId}", request);
  return (
    <Shown read={read} height={40}>
      {(evaluation) => (
        <>
          <p class="note">
            <PolicyName {...evaluation} />: {evaluation.verdict.message}
            {evaluation.obstacles.map(({ message }) => ` ${message}`)}
            <Submission verdict={evaluation.verdict} />
          </p>
          <EvaluationFigures evaluation={evaluation} />
          <EvaluationPlot evaluation={evaluation} limit={LIMIT} />
          <ObservationTable evaluation={evaluation} limit={LIMIT} />
          <RoundTable evaluation={evaluation} limit={LIMIT} />
        </>
      )}
    </Shown>
  );
}

/** Brings the evaluation into sight when another policy is chosen further down the page. */
function useInSight(key: string | undefined) {
  const host = useRef<HTMLDivElement>(null);
  const before = useRef<string | undefined>(key);
  useEffect(() => {
    if (key !== undefined && before.current !== undefined && key !== before.current) {
      host.current?.scrollIntoView({ block: "start" });
      host.current?.focus({ preventScroll: true });
    }
    before.current = key;
  }, [key]);
  return host;
}

/** Why a policy was paid, or was not: the policy in the address, or the newest paid one. */
export function TriggerEvaluation() {
  const claims = useRead("/api/v1/stats/claims", { query: newestClaim });
  const inView = policyInView();
  const newest = claims.state === "ready" || claims.state === "stale" ? claims.body.claims[0] : undefined;
  const ofNewest = newest && { productId: newest.product_id, policyId: newest.policy_id };
  const policy = inView === "none" ? ofNewest : inView === "malformed" ? undefined : inView;
  const host = useInSight(policy && policyKey(policy));
  return (
    <Section
      title="Evaluation"
      sentence="Three observations in a row of a price at or below the trigger, at least a minute apart, pay a policy; one above it begins anew."
    >
      <div ref={host} tabIndex={-1} class="evaluation">
        {policy ? (
          <EvaluationView key={policyKey(policy)} policy={policy} />
        ) : inView === "malformed" ? (
          <p class="empty">
            The address names no policy: a policy is its product’s id, a dash, and its number.
          </p>
        ) : (
          <Shown read={claims} height={40}>
            {() => (
              <p class="empty">No policy was paid yet. Choose a policy anywhere to see how far it is.</p>
            )}
          </Shown>
        )}
      </div>
    </Section>
  );
}
