/** What README.md and docs/ state agrees with the code, and their links lead somewhere. test/e2e/docs.test.ts runs their blocks. */
import { existsSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";
import { issueCodes } from "../api/prepare/issue-schemas.ts";
import { variableNames } from "../lib/config.ts";
import { errorStatus } from "../lib/errors.ts";
import { projectRoot } from "../lib/project-root.ts";
import { catalogueTerms, PAYOUT_RATIO_BPS } from "../scripts/local/protocol/terms.ts";
import {
  documents,
  fileNameOf,
  isRun,
  productCells,
  readBlocks,
  readDocument,
  runnable,
  shown,
  tableRows,
} from "./e2e/support/doc-blocks.ts";

/** Variables in the documents that are not the service's configuration. */
const otherVariables = [
  "API_KEY",
  "API_URL",
  "NODE_OPTIONS",
  "SOAK_ROUNDS",
  "SOAK_SEED",
  // Of `npm run deploy` and `npm run prices`.
  "DEPLOYER_PRIVATE_KEY",
  "PRICES_PRIVATE_KEY",
  // Of compose.yaml.
  "POSTGRES_PASSWORD",
  "OWNER_PASSWORD",
  "API_PASSWORD",
  "STANDBY_PASSWORD",
  "DATABASE_HOST",
];

/** A document without its fenced blocks. */
const prose = (document: string): string => readDocument(document).replace(/^```[\s\S]*?^```$/gm, "");

/** The anchor that GitHub gives a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");

const anchorsOf = (document: string): string[] =>
  [...prose(document).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchorOf(heading ?? ""));

test("README.md has at most 150 lines", () => {
  expect(readDocument("README.md").trimEnd().split("\n").length).toBeLessThanOrEqual(150);
});

test.each(documents)("%s: every relative link leads to a file and a heading", (document) => {
  const links = [...prose(document).matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => link ?? "");
  for (const link of links.filter((one) => !/^https?:/.test(one))) {
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? document : normalize(join(dirname(document), path));
    expect(existsSync(join(projectRoot, target)), link).toBe(true);
    if (anchor !== undefined) expect(anchorsOf(target), link).toContain(anchor);
  }
});

test.each(documents)("%s: every block is of a known language, and every JSON example is JSON", (document) => {
  for (const { language, line, text } of readBlocks(document)) {
    expect([...runnable, ...shown], `${document}:${line}`).toContain(language);
    if (language === "json") expect(() => JSON.parse(text), `${document}:${line}`).not.toThrow();
  }
});

test.each(documents)("%s: every js and python block is a file that a later shell block runs", (document) => {
  const blocks = readBlocks(document).filter(isRun);
  for (const block of blocks.filter(({ language }) => language !== "sh")) {
    const later = blocks.filter(({ language, line }) => language === "sh" && line > block.line);
    const command = new RegExp(`\\b(node|python3) ${fileNameOf(block).replace(".", "\\.")}\\b`);
    expect(
      later.some(({ text }) => command.test(text)),
      fileNameOf(block),
    ).toBe(true);
  }
});

test("README.md's table of products has the terms of the contracts", () => {
  expect(tableRows("README.md", "product")).toEqual(
    catalogueTerms.map((terms) => productCells({ ...terms, payoutRatioBps: PAYOUT_RATIO_BPS })),
  );
});

test("docs/buying.md explains every error code with its status, in the order of lib/errors.ts", () => {
  const rows = tableRows("docs/buying.md", "what to do").map(([code, status]) => [code, status]);
  expect(rows).toEqual(Object.entries(errorStatus).map(([code, status]) => [`\`${code}\``, String(status)]));
});

test("docs/buying.md explains every issue of a prepared transaction, in the order of its schemas", () => {
  const rows = tableRows("docs/buying.md", "issue").map(([code]) => code);
  expect(rows).toEqual(issueCodes.map((code) => `\`${code}\``));
});

test.each(documents)("%s names only environment variables that exist", (document) => {
  const named = [...prose(document).matchAll(/`([A-Z][A-Z0-9]*_[A-Z0-9_]+)`/g)].map(([, name]) => name);
  for (const name of named) expect([...variableNames, ...otherVariables]).toContain(name);
});
