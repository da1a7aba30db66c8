/** Scrapes a writer's metrics. */
import { expect } from "vitest";
import { waitFor } from "../../../scripts/local/wait.ts";

/** The samples of a scrape, by name and labels in Prometheus's text format. */
export type Samples = ReadonlyMap<string, number>;

export async function scrape(url: string): Promise<Samples> {
  const response = await fetch(url);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toContain("text/plain");
  const lines = (await response.text()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(lines.map((line) => [line.replace(/ \S+$/, ""), Number(line.split(" ").at(-1))]));
}

/** Scrapes until a condition holds. */
export const scrapeUntil = (url: string, what: string, condition: (samples: Samples) => boolean) =>
  waitFor({
    what,
    probe: async () => {
      const samples = await scrape(url);
      return condition(samples) ? samples : undefined;
    },
    intervalMs: 200,
  });

/** True for a scrape that has every one of these samples with its value. */
export const hasSamples = (samples: Samples, expected: Readonly<Record<string, number>>) =>
  Object.entries(expected).every(([name, value]) => samples.get(name) === value);

export const namesWith = (samples: Samples, prefix: string) =>
  [...samples.keys()].filter((name) => name.startsWith(prefix));
