/** The steps of a prepared action, as their owner sees them before they are signed. */
import { isToDo, type Prepared, type SignatureStep, type Step } from "../../../../client/index.ts";
import { Amount } from "../../../parts/amount.tsx";
import { Moment } from "../../../parts/time.tsx";
import { Word } from "../../../parts/word.tsx";

function Permit({ typedData: { domain, message } }: SignatureStep) {
  return (
    <dl class="exact">
      <dt>Token</dt>
      <dd>
        {domain.name}, {domain.verifyingContract}
      </dd>
      <dt>May take</dt>
      <dd>
        <Amount value={message.value} unit="usdc" />
      </dd>
      <dt>For</dt>
      <dd>{message.spender}</dd>
      <dt>Until</dt>
      <dd>
        <Moment at={message.deadline} />
      </dd>
      <dt>Chain, nonce</dt>
      <dd>
        {domain.chainId}, {message.nonce}
      </dd>
    </dl>
  );
}

/** What the wallet will show, to compare it with. */
function Exact({ step }: { step: Step }) {
  return (
    <details>
      <summary>What exactly is signed</summary>
      {step.kind === "signature" ? (
        <Permit {...step} />
      ) : (
        <dl class="exact">
          <dt>Contract</dt>
          <dd>{step.to}</dd>
          <dt>Function</dt>
          <dd>{step.call.function}</dd>
          <dt>Arguments</dt>
          <dd>{step.call.args.map(String).join(", ")}</dd>
          <dt>Ether sent</dt>
          <dd>
            <Amount value={step.value} unit="ether" />
          </dd>
        </dl>
      )}
    </details>
  );
}

const wordOf = (index: number, position: number, step: Step) =>
  index < position || (step.status === "complete" && step.kind === "transaction") ? (
    <Word tone="good">Done</Word>
  ) : index === position ? (
    <Word tone="accent">Now</Word>
  ) : (
    <Word tone="quiet">Next</Word>
  );

/** All steps that the action needs; the one at `position` in full. */
export const Steps = ({
  prepared: { summary, steps },
  position,
}: {
  prepared: Prepared;
  position: number;
}) => (
  <>
    <p class="summary">{summary}</p>
    <ol class="steps">
      {steps.map((step, index) =>
        isToDo(step) || step.status === "complete" || index === position ? (
          <li key={step.id} aria-current={index === position ? "step" : undefined}>
            <p>
              {wordOf(index, position, step)} {step.description}
            </p>
            {index === position && <Exact step={step} />}
          </li>
        ) : null,
      )}
    </ol>
  </>
);
