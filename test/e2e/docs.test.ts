/**
 * Every command and program in README.md and docs/ works on the dev stack, and those that buy, list and subscribe work again when they
 * are repeated. Then that stack is killed, starts anew, and goes down.
 */
import { execFile, spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { errorStatus } from "../../lib/errors.ts";
import { projectRoot } from "../../lib/project-root.ts";
import { freePorts } from "../../scripts/local/ports.ts";
import {
  type DevRun,
  type DevSettings,
  devChildren,
  devLeftovers,
  devSettings,
  startDev,
} from "../support/dev-stack.ts";
import { http } from "../support/http.ts";
import { expectPriceMoves, expectSynced, testnetState } from "./support/dev-checks.ts";
import {
  documents,
  isMarked,
  isRun,
  needsPython,
  productCells,
  readBlocks,
  tableRows,
} from "./support/doc-blocks.ts";
import { type BlockRun, runBlocks } from "./support/doc-session.ts";
import { printedTvl, printedWeeks, type Read } from "./support/printed-figures.ts";

/** Blocks marked `no-run`: the first line of each, and why the test cannot run it. */
const notRun: readonly { document: string; begins: string; reason: string }[] = [
  { document: "README.md", begins: "npm run dev  ", reason: "starts the stack that this test runs on" },
  { document: "docs/contributing.md", begins: "npm test  ", reason: "runs this very test, for many minutes" },
  { document: "docs/operating.md", begins: "DATABASE_URL=", reason: "needs servers of the reader's own" },
  { document: "docs/forking.md", begins: "npm run fork", reason: "needs a public node" },
  { document: "docs/forking.md", begins: "npm run demo", reason: "is for a fork" },
  { document: "docs/forking.md", begins: "npm ci", reason: "needs an archive node" },
  {
    document: "docs/operating.md",
    begins: "npm run doctor",
    reason: "needs an environment of the reader's own",
  },
  { document: "docs/operating.md", begins: "npm run backup", reason: "writes a file outside of the stack" },
  { document: "docs/operating.md", begins: "npm run build", reason: "needs a real network and a supervisor" },
  { document: "docs/operating.md", begins: "read -rs DEPLOYER_PRIVATE_KEY", reason: "needs a test network" },
  {
    document: "docs/operating.md",
    begins: "RPC_URL=",
    reason: "needs a test network, and runs until stopped",
  },
  { document: "docs/operating.md", begins: "docker compose", reason: "needs Docker" },
];

const hasPython = spawnSync("python3", ["-c", ""]).status === 0;
/** What is followed a second time: blocks that buy, list and subscribe, and must not be in their own way. */
const repeated = ["README.md", "docs/buying.md", "docs/client.md", "docs/webhooks.md"];
/** Blocks of these that only read, or do what another one repeats, by their beginnings: once is enough. */
const onceEnough = /^(node (setup|quote|once|errors|stats|sandbox)\.mjs|until node policies\.mjs)/;

/** Ports in the documents, by the variable that moves them. The last two are the receivers of docs/webhooks.md. */
const documentedPorts = {
  PORT: "8080",
  ANVIL_PORT: "8545",
  TESTNET_ANVIL_PORT: "8546",
  POSTGRES_PORT: "54329",
  PONDER_PORT: "42069",
  METRICS_PORT: "9464",
  API_METRICS_PORT: "9465",
  NODE_RECEIVER: "9900",
  PYTHON_RECEIVER: "9901",
} as const;

let settings: DevSettings;
let dev: DevRun;
let env: Readonly<Record<string, string>> = {};
let translate = (text: string): string => text;
const runs = new Map<string, BlockRun[]>();

beforeAll(async () => {
  settings = await devSettings();
  const [node = 0, python = 0] = await freePorts(2);
  env = { ...settings.env, NODE_RECEIVER: String(node), PYTHON_RECEIVER: String(python) };
  const ports = new Map<string, string>(
    Object.entries(documentedPorts).map(([name, port]) => [port, env[name] ?? port]),
  );
  translate = (text) => text.replace(/\b\d{4,5}\b/g, (number) => ports.get(number) ?? number);
  // A purchase on a busy machine may take longer than the 30 seconds of production.
  dev = startDev(settings, [], { PURCHASE_WAIT_MS: "120000", ONBOARD_RATE_LIMIT: "100" });
  await dev.ready();
});

const documentsWithBlocks = documents.filter((document) => readBlocks(document).some(isRun));

/** The JSON objects among the lines of a text. */
function jsonLines(text: string): Record<string, unknown>[] {
  return text
    .split("\n")
    .filter((line) => /^\{.*\}$/.test(line))
    .map((line) => z.record(z.string(), z.unknown()).parse(JSON.parse(line)));
}

/** Error codes among the answers. */
const errorsIn = (answers: string): string[] => [
  ...new Set(
    jsonLines(answers)
      .filter(({ error, errors }) => (error ?? errors ?? null) !== null)
      .map(({ error }) => (typeof error === "string" ? error : "error of a node or of GraphQL")),
  ),
];

/** The error codes that the comments of a block announce. */
const announcedErrors = (text: string): string[] => {
  const comments = [...text.matchAll(/(?:^|\s)# (.*)$/gm)].map(([, comment]) => comment ?? "").join("\n");
  return Object.keys(errorStatus).filter((code) => new RegExp(`\\b${code}\\b`).test(comments));
};

test("each block that is not run is listed here with its reason", () => {
  const marked = documents.flatMap(readBlocks).filter(isMarked);
  const listed = ({ document, text }: { document: string; text: string }) =>
    notRun.filter((entry) => entry.document === document && text.startsWith(entry.begins));
  expect(marked.map(({ mark }) => mark).filter((mark) => mark !== "no-run")).toEqual([]);
  for (const block of marked) expect(listed(block), `${block.document}:${block.line}`).toHaveLength(1);
  expect(marked).toHaveLength(notRun.length);
});

describe.each([
  { pass: "first", followed: documentsWithBlocks, skipped: /^$/ },
  { pass: "second", followed: repeated, skipped: onceEnough },
])("the $pass time", ({ pass, followed, skipped }) => {
  test.each(followed)("the blocks of %s run", async (document) => {
    const blocks = readBlocks(document)
      .filter((block) => isRun(block) && (hasPython || !needsPython(block)))
      .filter(({ text }) => !skipped.test(text));
    const done = await runBlocks(blocks, env, translate);
    for (const { block, output, answers } of done) {
      const where = `${document}:${block.line}\n${output}\n── HTTP answers\n${answers}`;
      expect(errorsIn(answers).sort(), where).toEqual(announcedErrors(block.text).sort());
    }
    runs.set(`${document} ${pass}`, done);
  });

  test("README.md's two purchases are on the chain, with the receipt that it shows", async () => {
    const done = runs.get(`README.md ${pass}`) ?? [];
    const example = readBlocks("README.md").find(({ language }) => language === "json");
    const receipts = done
      .flatMap(({ output }) => jsonLines(output))
      .filter(({ purchaseId }) => purchaseId !== undefined);
    expect(receipts).toHaveLength(2);
    for (const receipt of receipts) {
      expect(Object.keys(receipt)).toEqual(Object.keys(JSON.parse(example?.text ?? "{}")));
      expect(receipt).toMatchObject({ ok: true, coverageAmount: "1000000000", premiumPaid: "52600000" });
      const { productId, policyId, buyer } = receipt;
      const policy = await http(`http://127.0.0.1:${env.PORT}/policies/${productId}/${policyId}`);
      // The demo of docs/operating.md lets the price fall, and the keeper pays these policies too.
      const status = expect.stringMatching(/^(Active|Triggered)$/);
      expect(policy.json).toMatchObject({ buyer, status, premiumPaid: receipt.premiumPaid });
    }
  });

  test("docs/webhooks.md's Python receiver takes a delivery and refuses a forgery", ({ skip }) => {
    if (!hasPython) skip("python3 is not on the PATH");
    const done = (runs.get(`docs/webhooks.md ${pass}`) ?? []).filter(({ block }) => needsPython(block));
    const output = done.map((run) => run.output).join("\n");
    expect(output).toMatch(/refused: no signature/);
    expect(output).toMatch(/received policy_purchased evt_/);
  });
});

/** By the program, what it must print. */
const expected: Readonly<Record<string, (read: Read) => Promise<string>>> = {
  "tvl-adapter.mjs": printedTvl,
  "weekly-report.mjs": printedWeeks,
};

test.each(readdirSync(join(projectRoot, "docs", "examples")))(
  "docs/examples/%s prints the figures of the API",
  async (file) => {
    const program = join(projectRoot, "docs", "examples", file);
    const API = `http://127.0.0.1:${env.PORT}`;
    const print = expected[file];
    if (!print) throw new Error(`what ${file} prints is not compared with the API`);
    const now = () => print(async (path) => (await http(`${API}${path}`)).json);
    const run = () => promisify(execFile)(process.execPath, [program], { env: { ...process.env, API } });
    let before = await now();
    // Again if the figures have changed meanwhile: a policy was paid, for example.
    for (let tries = 0; tries < 10; tries += 1) {
      const { stdout } = await run();
      const after = await now();
      // The report's first line names the newest block, and whether the index has it: both may change at any time.
      if (after === before) return expect(stdout.replace(/^block \d+, index \w+\n/, "block n\n")).toBe(after);
      before = after;
    }
    throw new Error("the figures changed each time");
  },
);

test("README.md's table of products agrees with the contracts", async () => {
  const product = z.object({
    name: z.string().nullable(),
    active: z.boolean(),
    coveredAsset: z.string(),
    durationSeconds: z.int(),
    triggerDropBps: z.int().nullable(),
    payoutRatioBps: z.int(),
    productId: z.string(),
  });
  const quote = z.object({ premium: z.string() });
  const { json } = await http(`http://127.0.0.1:${env.PORT}/products`);
  const { products } = z.object({ products: z.array(product) }).parse(json);
  const rows = await Promise.all(
    products
      .filter((one) => one.active)
      .map(async (one) => {
        const path = `/products/${one.productId}/quote?coverageAmount=1000000000`;
        const { premium } = quote.parse((await http(`http://127.0.0.1:${env.PORT}${path}`)).json);
        // Null only for a retired product's adapter.
        const triggerDropBps = one.triggerDropBps ?? Number.NaN;
        return productCells({
          ...one,
          triggerDropBps,
          symbol: one.coveredAsset,
          premiumPpm: Number(premium) / 1000,
        });
      }),
  );
  expect(tableRows("README.md", "product")).toEqual(rows);
});

test("npm run dev survives a kill -9 of its last run, and goes down as a whole when a part of it dies", async () => {
  expect(dev.output()).toContain(`curl -X POST http://127.0.0.1:${env.PORT}/sandbox/try`);
  const beside = startDev(settings);
  expect((await beside.exited).code).toBe(1);
  expect(beside.output()).toMatch(/runs in this folder already, as process \d+/);
  expect((await http(`http://127.0.0.1:${env.PORT}/health`)).status).toBe(200);

  dev.signal("SIGKILL");
  await dev.exited;
  expect((await devLeftovers(settings)).length, "a killed stack leaves its processes").toBeGreaterThan(0);

  const second = startDev(settings);
  await second.ready();
  await expectSynced(settings);
  const ready = { sandbox: { enabled: true, status: "ready", chainId: 84532 }, faucet: { enabled: true } };
  await expect.poll(() => testnetState(`http://127.0.0.1:${env.PORT}`)).toMatchObject(ready);
  await expectPriceMoves(settings);

  const writer = devChildren(settings).find(({ name }) => name === "writer");
  process.kill(writer?.pid ?? 0, "SIGKILL");
  expect((await second.exited).code).toBe(1);
  expect(second.output()).toMatch(/writer was ended by SIGKILL/);
  expect(await devLeftovers(settings)).toEqual([]);
});
