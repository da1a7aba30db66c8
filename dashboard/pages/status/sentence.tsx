import type { Schema } from "../../../client/index.ts";
import { counted } from "../../format/amount.ts";
import { Word } from "../../parts/word.tsx";

/** “Everything works.” or the number of faults, which stand below it, each in a sentence. */
export const StatusSentence = ({ health: { status, reasons } }: { health: Schema<"Health"> }) =>
  status === "ok" ? (
    <>
      Everything <Word tone="good">works</Word>: chain, index, relayers and keeper.
    </>
  ) : (
    <>
      {counted(reasons.length, "part does", "parts do")} <Word tone="fault">not work</Word> as it should.
    </>
  );
