import type { ComponentChildren } from "preact";

/** What a word stands for: its colour never says more than the word. */
export type Tone = "good" | "paid" | "burned" | "risk" | "fault" | "quiet" | "accent";

/** A status as a word with a colour. */
export const Word = ({ tone, children }: { tone: Tone; children: ComponentChildren }) => (
  <span class={`word ${tone}`}>{children}</span>
);

const policyTones: Readonly<Record<string, Tone>> = {
  Active: "accent",
  Triggered: "paid",
  Expired: "quiet",
};

/** A policy's status; a triggered policy is one that was paid. */
export const PolicyStatus = ({ status }: { status: string }) => (
  <Word tone={policyTones[status] ?? "quiet"}>{status === "Triggered" ? "Paid" : status}</Word>
);
