/** The fenced blocks of README.md and docs/, as a reader sees them. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../../../lib/project-root.ts";

/** Languages of blocks that are run, and of those that are only shown. */
export const runnable = ["sh", "js", "python"] as const;
export const shown = ["json", "text"] as const;

export type Block = {
  /** Path from the project's root. */
  readonly document: string;
  /** Line of the opening fence. */
  readonly line: number;
  readonly language: string;
  /** The rest of the info string: "" or "no-run". */
  readonly mark: string;
  readonly text: string;
};

export const documents: readonly string[] = [
  "README.md",
  ...readdirSync(join(projectRoot, "docs"))
    .filter((name) => name.endsWith(".md"))
    .sort()
    .map((name) => `docs/${name}`),
];

export const readDocument = (document: string): string => readFileSync(join(projectRoot, document), "utf8");

/** @throws for a fence that is never closed, or that is indented. */
export function readBlocks(document: string): Block[] {
  const blocks: Block[] = [];
  let open: { line: number; info: string; text: string[] } | undefined;
  for (const [index, line] of readDocument(document).split("\n").entries()) {
    if (/^\s+```/.test(line)) throw new Error(`${document}:${index + 1}: the fence is indented`);
    if (open && line === "```") {
      const [language = "", ...mark] = open.info.split(" ");
      blocks.push({
        document,
        line: open.line,
        language,
        mark: mark.join(" "),
        text: `${open.text.join("\n")}\n`,
      });
      open = undefined;
    } else if (open) {
      open.text.push(line);
    } else if (line.startsWith("```")) {
      open = { line: index + 1, info: line.slice(3), text: [] };
    }
  }
  if (open) throw new Error(`${document}:${open.line}: the block is never closed`);
  return blocks;
}

export const isMarked = ({ mark }: Block): boolean => mark !== "";
export const isRun = (block: Block): boolean =>
  runnable.some((language) => language === block.language) && !isMarked(block);
export const needsPython = ({ language, text }: Block): boolean =>
  language === "python" || (language === "sh" && /\bpython3\b/.test(text));

/** The file name in the first line of a js or python block: `// buy.mjs` or `# receiver.py`. */
export function fileNameOf({ document, line, text }: Block): string {
  const name = /^(?:\/\/|#) (\S+\.(?:mjs|py))\n/.exec(text)?.[1];
  if (name === undefined) throw new Error(`${document}:${line}: the first line does not name a file`);
  return name;
}

/** A product's row in README.md's table. */
export const productCells = (product: {
  name: string | null;
  symbol: string;
  durationSeconds: number;
  triggerDropBps: number;
  payoutRatioBps: number;
  premiumPpm: number;
}): string[] => [
  product.name ?? "",
  product.symbol,
  `${product.durationSeconds / 3600} h`,
  `${product.triggerDropBps / 100} %`,
  `${product.payoutRatioBps / 100} %`,
  `${(product.premiumPpm / 1000).toFixed(2)} USDC`,
];

/** The rows of the Markdown table with this heading cell, without headings. */
export function tableRows(document: string, heading: string): string[][] {
  const lines = readDocument(document).split("\n");
  const start = lines.findIndex((line) => line.startsWith("|") && cells(line).includes(heading));
  if (start === -1) throw new Error(`${document} has no table with the heading ${heading}`);
  const after = lines.slice(start + 2);
  const end = after.findIndex((line) => !line.startsWith("|"));
  return after.slice(0, end === -1 ? undefined : end).map(cells);
}

const cells = (line: string): string[] =>
  line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
