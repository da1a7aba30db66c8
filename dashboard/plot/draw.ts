/** Draws a picture with uPlot. Loaded apart from the page, so that sentence and figures do not wait for it. */
import uPlot from "uplot";
import { amountNumber, shortNumber } from "../format/amount.ts";
import { placeLabels } from "./level-labels.ts";
import type { Picture } from "./points.ts";
import { timeLabels } from "./time-axis.ts";

const HEIGHT = 224;
/** Room for the labels of the values, in px. */
const AXIS_WIDTH = 56;
/** Between a level's line and its label, in px. */
const LABEL_GAP = 5;
/** Of a level's label, in px. */
const LABEL_HEIGHT = 16;

export type Drawing = {
  /** Shows the crosshair at a point; undefined hides it. */
  readonly point: (index: number | undefined) => void;
  readonly destroy: () => void;
};

type Colours = {
  readonly ink: string;
  readonly hairline: string;
  readonly text: string;
  readonly level: string;
};

/** The page's colours of now: a canvas cannot use variables. */
function coloursOf(host: HTMLElement): Colours {
  const style = getComputedStyle(host);
  const read = (name: string) => style.getPropertyValue(name).trim();
  return { ink: read("--ink"), hairline: read("--hairline"), text: read("--muted"), level: read("--risk") };
}

const dataOf = ({ points, unit }: Picture): uPlot.AlignedData => [
  points.map(({ at }) => at),
  points.map(({ value }) => amountNumber(value, unit)),
];

/** Half the usual distance of two points at each side, so that the first and the last bar are whole. */
function timeRange({ kind, points }: Picture): (u: uPlot, min: number, max: number) => [number, number] {
  const [first, last] = [points.at(0)?.at ?? 0, points.at(-1)?.at ?? 0];
  const step = points.length > 1 ? (last - first) / (points.length - 1) : 86_400;
  const margin = kind === "bars" ? step / 2 : 0;
  return (_, min, max) => (min === max ? [min - step, max + step] : [min - margin, max + margin]);
}

/** Bars begin at zero; other values keep a tenth of their range free. Levels are always in sight. */
function valueRange({
  kind,
  levels,
  unit,
}: Picture): (u: uPlot, min: number, max: number) => [number, number] {
  const marks = levels.map(({ value }) => amountNumber(value, unit));
  return (_, min, max) => {
    const [low, high] = [Math.min(min, ...marks), Math.max(max, ...marks)];
    if (kind === "bars") return [0, high === 0 ? 1 : high * 1.08];
    const room = (high - low || Math.abs(high) || 1) * 0.1;
    return [low - room, high + room];
  };
}

const paths = {
  bars: uPlot.paths.bars?.({ size: [0.7, 36], radius: 0.15 }),
  line: uPlot.paths.linear?.(),
  steps: uPlot.paths.stepped?.({ align: 1 }),
};

function drawLevels(u: uPlot, { levels, unit }: Picture, colours: Colours): void {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.strokeStyle = colours.level;
  ctx.fillStyle = colours.level;
  ctx.font = u.axes[1]?.font?.[0] ?? ctx.font;
  ctx.textAlign = "right";
  ctx.textBaseline = "bottom";
  ctx.setLineDash([6 * uPlot.pxRatio, 4 * uPlot.pxRatio]);
  const { left, width } = bbox;
  const lines = levels.map(({ value, label }) => ({
    label,
    y: Math.round(u.valToPos(amountNumber(value, unit), "y", true)),
    width: ctx.measureText(label).width,
  }));
  const room = {
    left,
    right: left + width,
    height: LABEL_HEIGHT * uPlot.pxRatio,
    gap: LABEL_GAP * 3 * uPlot.pxRatio,
  };
  const ends = placeLabels(lines, room);
  for (const [index, { label, y }] of lines.entries()) {
    ctx.beginPath();
    ctx.moveTo(left, y);
    ctx.lineTo(left + width, y);
    ctx.stroke();
    const end = ends[index];
    if (end !== undefined) ctx.fillText(label, end, y - LABEL_GAP);
  }
  ctx.restore();
}

/**
 * Draws into `host`, and again when its width or the colour scheme changes.
 * @param onPoint hears which point the pointer is at; undefined when it leaves
 */
export function draw(
  host: HTMLElement,
  picture: Picture,
  onPoint: (index: number | undefined) => void,
): Drawing {
  let u: uPlot | undefined;
  /** Set while the crosshair is moved from outside: then it is no news. */
  let moving = false;

  function create(): uPlot {
    const colours = coloursOf(host);
    const font = `12px ${getComputedStyle(host).fontFamily}`;
    const axis: uPlot.Axis = { stroke: colours.text, font, ticks: { show: false } };
    const options: uPlot.Options = {
      width: host.clientWidth,
      height: HEIGHT,
      ms: 1e-3,
      legend: { show: false },
      padding: [12, 20, 0, 0],
      cursor: { y: false, drag: { x: false, y: false }, points: { show: picture.kind !== "bars", size: 8 } },
      scales: { x: { time: true, range: timeRange(picture) }, y: { range: valueRange(picture) } },
      axes: [
        { ...axis, grid: { show: false }, values: timeLabels },
        {
          ...axis,
          size: AXIS_WIDTH,
          grid: { stroke: colours.hairline, width: 1 },
          values: (_, values) => values.map(shortNumber),
        },
      ],
      series: [
        {},
        {
          stroke: colours.ink,
          width: picture.kind === "bars" ? 0 : 2,
          ...(picture.kind === "bars" ? { fill: colours.ink } : {}),
          // uPlot leaves points out where they are dense; a single one would otherwise be nothing.
          points: picture.kind === "bars" ? { show: false } : { size: 5, fill: colours.ink },
          ...(paths[picture.kind] ? { paths: paths[picture.kind] } : {}),
        },
      ],
      hooks: {
        draw: [(drawn) => drawLevels(drawn, picture, colours)],
        setCursor: [
          ({ cursor: { idx } }) => {
            if (!moving) onPoint(idx ?? undefined);
          },
        ],
      },
      ...(picture.period === "moment"
        ? {}
        : { tzDate: (at: number) => uPlot.tzDate(new Date(at * 1000), "Etc/UTC") }),
    };
    return new uPlot(options, dataOf(picture), host);
  }

  function recreate(): void {
    u?.destroy();
    u = create();
  }

  recreate();
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  scheme.addEventListener("change", recreate);
  const resized = new ResizeObserver(() => {
    if (u && host.clientWidth > 0 && host.clientWidth !== u.width)
      u.setSize({ width: host.clientWidth, height: HEIGHT });
  });
  resized.observe(host);
  return {
    point(index) {
      if (!u) return;
      moving = true;
      const at = index === undefined ? undefined : picture.points[index]?.at;
      const left = at === undefined ? -10 : u.valToPos(at, "x");
      u.setCursor({ left, top: at === undefined ? -10 : 0 });
      moving = false;
    },
    destroy() {
      scheme.removeEventListener("change", recreate);
      resized.disconnect();
      u?.destroy();
    },
  };
}
