/** Parts of the page's script: files of their own that are loaded when they are needed, and shared by everything that needs them. */
import { type ReadonlySignal, signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

/** `retry` loads it once more, and says whether it is there now. */
export type PartState<Module> =
  | { readonly state: "loading" }
  | { readonly state: "loaded"; readonly module: Module }
  | { readonly state: "failed"; readonly retry: () => Promise<boolean> };

export type Part<Module> = {
  readonly state: ReadonlySignal<PartState<Module>>;
  /** Loads it, unless it is there or under way. */
  readonly need: () => void;
};

/** A part that nobody has needed yet: `createPart(() => import("./draw.ts"))`. */
export function createPart<Module>(load: () => Promise<Module>): Part<Module> {
  const state = signal<PartState<Module>>({ state: "loading" });
  let running: Promise<boolean> | undefined;
  const attempt = (): Promise<boolean> =>
    load().then(
      (module) => {
        state.value = { state: "loaded", module };
        return true;
      },
      () => {
        state.value = { state: "failed", retry };
        return false;
      },
    );
  function retry(): Promise<boolean> {
    running ??= attempt().finally(() => {
      running = undefined;
    });
    return running;
  }
  return {
    state,
    need() {
      if (state.peek().state !== "loaded") void retry();
    },
  };
}

const loading = { state: "loading" } as const;

/** Needs a part while the component is shown. */
export function usePart<Module>(part: Part<Module> | undefined): PartState<Module> {
  useEffect(() => part?.need(), [part]);
  return part ? part.state.value : loading;
}
