import type { ComponentChildren } from "preact";
import { useCallback, useMemo, useState } from "preact/hooks";
import { createPart, usePart } from "../data/part.ts";
import { amountWithUnit, type Unit, units } from "../format/amount.ts";
import { Amount } from "../parts/amount.tsx";
import { PartFailed } from "../parts/part-failed.tsx";
import { Sources } from "../parts/sources.tsx";
import { Table } from "../parts/table.tsx";
import type { Tone } from "../parts/word.tsx";
import { type Level, type Period, type Picture, type Point, periodHeads, periodName } from "./points.ts";
import { useDrawing } from "./use-drawing.ts";

export type PlotProps = {
  /** One subject: `Premiums`. */
  readonly title: string;
  /** What is to be seen, in a sentence with figures. */
  readonly sentence: ComponentChildren;
  readonly kind: Picture["kind"];
  readonly unit: Unit;
  readonly period: Period;
  /** Oldest first. */
  readonly points: readonly Point[];
  readonly levels?: readonly Level[];
  readonly tone?: Tone;
  /** Address of the data: links to JSON and CSV. */
  readonly source: string;
  /** Why there is nothing to draw. */
  readonly empty: string;
};

const noLevels: readonly Level[] = [];

/** A file of its own, so that sentence and figures do not wait for it. It is loaded once. */
const drawing = createPart(() => import("./draw.ts"));

/** Bars of nothing but zeros are as empty as no bars. */
const isEmpty = ({ kind, points }: Picture) =>
  points.length === 0 || (kind === "bars" && points.every(({ value }) => BigInt(value) === 0n));

/** The point after a key at a point; undefined for keys that mean nothing here. */
function nextPoint(key: string, at: number, count: number): number | undefined {
  const moves: Readonly<Record<string, number>> = {
    ArrowLeft: at - 1,
    ArrowRight: at + 1,
    PageUp: at - 7,
    PageDown: at + 7,
    Home: 0,
    End: count - 1,
  };
  const target = moves[key];
  return target === undefined ? undefined : Math.max(0, Math.min(count - 1, target));
}

/** The picture itself: arrow keys move the crosshair as the pointer does, and the value at it is spoken. */
function Canvas({ title, picture }: { title: string; picture: Picture }) {
  const { points, period, unit } = picture;
  const [point, setPoint] = useState<number>();
  const show = useCallback((index: number | undefined) => setPoint(index), []);
  const drawer = usePart(drawing);
  const host = useDrawing(drawer.state === "loaded" ? drawer.module.draw : undefined, picture, point, show);
  const last = points.length - 1;
  const shown = points[point ?? last];
  const onKeyDown = (event: KeyboardEvent) => {
    const next = nextPoint(event.key, point ?? last + 1, points.length);
    if (next === undefined) return;
    event.preventDefault();
    setPoint(next);
  };
  return (
    <>
      <p class="readout">
        {shown && (
          <>
            <span>{periodName(period, shown.at)}</span> <Amount value={shown.value} unit={unit} />
          </>
        )}
      </p>
      {drawer.state === "failed" && (
        <p class="note">
          <PartFailed what="The picture" retry={drawer.retry} /> Its values are in the table.
        </p>
      )}
      <div
        ref={host}
        class="canvas"
        role="slider"
        tabIndex={0}
        aria-label={`${title}: the values, by arrow keys`}
        aria-orientation="horizontal"
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={point ?? last}
        aria-valuetext={
          shown ? `${periodName(period, shown.at)}: ${amountWithUnit(shown.value, unit)}` : "no value"
        }
        onKeyDown={onKeyDown}
        onBlur={() => setPoint(undefined)}
      />
    </>
  );
}

/** The same values as a table, made when it is opened. */
function Values({ title, picture }: { title: string; picture: Picture }) {
  const [open, setOpen] = useState(false);
  const { points, period, unit } = picture;
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Table</summary>
      {open && (
        <Table
          caption={title}
          rows={[...points].reverse()}
          keyOf={({ at }) => String(at)}
          columns={[
            { head: periodHeads[period], cell: ({ at }) => periodName(period, at), sortBy: ({ at }) => at },
            {
              head: title,
              unit,
              amount: ({ value }) => value,
            },
          ]}
          empty="There is no value."
        />
      )}
    </details>
  );
}

/** A plot of one subject over time, with its sentence, its table and its data. */
export function Plot(props: PlotProps) {
  const { title, sentence, kind, unit, period, points, levels = noLevels, tone, source, empty } = props;
  // Drawn again only when its values change: answers that have not changed keep their objects.
  const picture = useMemo<Picture>(
    () => ({ kind, unit, period, points, levels }),
    [kind, unit, period, points, levels],
  );
  return (
    <figure class={`plot ${tone ?? "accent"}`}>
      <figcaption>
        <h3>
          {title}
          {units[unit].symbol !== "" && <span class="unit"> {units[unit].symbol}</span>}
        </h3>
        <p class="note">{sentence}</p>
      </figcaption>
      {isEmpty(picture) ? <p class="empty tall">{empty}</p> : <Canvas title={title} picture={picture} />}
      <div class="plot-foot">
        {points.length > 0 && <Values title={title} picture={picture} />}
        <Sources url={source} what={title} />
      </div>
    </figure>
  );
}
