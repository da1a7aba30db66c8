/** Parts of the page's script: files of their own that are loaded when they are needed. */
import { useEffect, useState } from "preact/hooks";

/** `retry` loads it once more, and says whether it is there now. */
export type Part<Module> =
  | { readonly state: "loading" }
  | { readonly state: "loaded"; readonly module: Module }
  | { readonly state: "failed"; readonly retry: () => Promise<boolean> };

type Load<Module> = () => Promise<Module>;

const loading = { state: "loading" } as const;

/**
 * Loads a part. The one before stays until another is there.
 * @param load the same function for the same part; undefined where none is needed
 */
export function usePart<Module>(load: Load<Module> | undefined): Part<Module> {
  const [{ part, of }, setPart] = useState<{ part: Part<Module>; of?: Load<Module> | undefined }>({
    part: loading,
  });
  useEffect(() => {
    if (!load) return;
    let left = false;
    const show = (shown: Part<Module>) => {
      if (!left) setPart({ part: shown, of: load });
    };
    const attempt = (): Promise<boolean> =>
      load().then(
        (module) => {
          show({ state: "loaded", module });
          return true;
        },
        () => {
          show({ state: "failed", retry: attempt });
          return false;
        },
      );
    void attempt();
    return () => {
      left = true;
    };
  }, [load]);
  return part.state === "failed" && of !== load ? loading : part;
}
