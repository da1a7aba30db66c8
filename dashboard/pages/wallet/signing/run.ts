/** The action that is under way: one at a time. */
import { computed, signal } from "@preact/signals";
import type { Action, Values } from "./actions.ts";
import { askAgain, Left, perform, type Stage } from "./perform.ts";
import { goesOn, type Phase } from "./phases.ts";

/** `texts` are what the owner wrote into the form, `values` what they stand for, once it is filled in. */
export type Run = {
  readonly action: Action;
  readonly texts: Values;
  readonly values: Values;
  readonly phase: Phase;
};

const current = signal<Run | undefined>(undefined);
const isOpen = signal(false);
/** The action under way; undefined without one. */
export const run = computed(() => current.value);
/** Whether its dialog is shown: what goes on by itself goes on without it. */
export const isShown = computed(() => isOpen.value);

/** Answers the newest question; a second answer changes nothing. */
let answer: (confirmed: boolean) => void = () => {};

/** Confirms what is shown. */
export const confirm = (): void => answer(true);

/** The stage of an action: once it was closed, nothing of it is shown any more, and nothing is asked. */
function stageOf(action: Action): Stage {
  const show = (phase: Phase) => {
    if (current.value?.action === action) current.value = { ...current.value, phase };
  };
  return {
    show,
    async ask(phase) {
      if (current.value?.action !== action) throw new Left();
      show(phase);
      const confirmed = await new Promise<boolean>((resolve) => {
        answer = resolve;
      });
      if (!confirmed) throw new Left();
    },
  };
}

const start = ({ action, values }: Run): void => void perform(stageOf(action), action, values);

/** Begins an action; one that goes on by itself is shown instead. */
export function begin(action: Action): void {
  isOpen.value = true;
  if (current.value && goesOn(current.value.phase)) return;
  const hasForm = action.fields.length > 0;
  const begun: Run = { action, texts: {}, values: {}, phase: { name: hasForm ? "form" : "preparing" } };
  current.value = begun;
  answer(false);
  if (!hasForm) start(begun);
}

/** Goes on with the form's values. */
export function submit(values: Values, texts: Values): void {
  if (!current.value) return;
  const filled: Run = { ...current.value, values, texts };
  current.value = filled;
  start(filled);
}

/** Prepares the same anew, after it was stopped or while it is blocked. */
export function retry(): void {
  if (current.value) start(current.value);
}

/** Goes back to the form, after it was stopped or while it is blocked. */
export function change(): void {
  if (current.value) current.value = { ...current.value, phase: { name: "form" } };
}

/** Asks what became of a purchase that is in doubt. */
export function resolveDoubt(): void {
  if (current.value?.phase.name !== "in_doubt") return;
  void askAgain(stageOf(current.value.action), current.value.phase.again);
}

/** Closes the dialog. What goes on by itself goes on; everything else ends here. */
export function close(): void {
  isOpen.value = false;
  if (!current.value || goesOn(current.value.phase)) return;
  current.value = undefined;
  answer(false);
}

/** Shows the dialog of what goes on again. */
export function reopen(): void {
  isOpen.value = current.value !== undefined;
}
