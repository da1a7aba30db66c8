/** Finds the machine's Chromium, which no package brings. */
import { execFileSync } from "node:child_process";

const names = ["chromium", "chromium-browser", "google-chrome"];

/** The path of a Chromium; undefined where none is installed. */
export function findChromium(): string | undefined {
  for (const name of names) {
    try {
      return execFileSync("which", [name], { encoding: "utf8" }).trim();
    } catch {
      // not installed: try the next name
    }
  }
  return undefined;
}
