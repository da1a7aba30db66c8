/** The board in Grafana's own JSON (schema 39, Grafana 11 and later). */
import type { Panel, Row } from "./board.ts";

/** Grafana's grid has 24 columns; a panel takes a third of them. */
const COLUMNS = 24;
const WIDTH = 8;
const HEIGHT = 8;

/** Chosen when the board is imported. */
const datasource = { type: "prometheus", uid: "$datasource" };

type Position = { readonly x: number; readonly y: number };

const panelDocument = (panel: Panel, id: number, { x, y }: Position) => ({
  id,
  type: "timeseries",
  title: panel.title,
  description: panel.description,
  datasource,
  gridPos: { x, y, w: WIDTH, h: HEIGHT },
  fieldConfig: {
    defaults: {
      unit: panel.unit,
      min: 0,
      custom: {
        lineWidth: 1,
        fillOpacity: 0,
        ...(panel.limit === undefined ? {} : { thresholdsStyle: { mode: "line" } }),
      },
      ...(panel.limit === undefined
        ? {}
        : {
            thresholds: {
              mode: "absolute",
              steps: [
                { color: "transparent", value: null },
                { color: "red", value: panel.limit },
              ],
            },
          }),
    },
    overrides: [],
  },
  options: { legend: { displayMode: "list", placement: "bottom" }, tooltip: { mode: "multi", sort: "desc" } },
  targets: Object.entries(panel.lines).map(([legendFormat, expr], index) => ({
    refId: String.fromCharCode("A".charCodeAt(0) + index),
    datasource,
    expr,
    legendFormat,
  })),
});

/** Lays the rows out one below the other. */
function panelsOf(rows: readonly Row[]): unknown[] {
  const panels: unknown[] = [];
  let y = 0;
  for (const { title, panels: own } of rows) {
    panels.push({
      id: panels.length + 1,
      type: "row",
      title,
      collapsed: false,
      gridPos: { x: 0, y, w: COLUMNS, h: 1 },
      panels: [],
    });
    y += 1;
    for (const [index, panel] of own.entries()) {
      const x = (index * WIDTH) % COLUMNS;
      panels.push(panelDocument(panel, panels.length + 1, { x, y }));
      const isLast = x + WIDTH === COLUMNS || index === own.length - 1;
      if (isLast) y += HEIGHT;
    }
  }
  return panels;
}

export const grafanaDocument = (rows: readonly Row[]) => ({
  uid: "parametric-cover",
  title: "Parametric Cover Service",
  tags: ["parametric-cover"],
  schemaVersion: 39,
  editable: true,
  refresh: "30s",
  time: { from: "now-6h", to: "now" },
  timezone: "utc",
  templating: {
    list: [{ name: "datasource", label: "Prometheus", type: "datasource", query: "prometheus" }],
  },
  panels: panelsOf(rows),
});
