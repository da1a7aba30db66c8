/** The package's export `parametric-cover-service/client`. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { expect, inject, test } from "vitest";
import { projectRoot } from "../../lib/project-root.ts";
import { buildClient, bundleClient, emitClientTypes } from "../../scripts/build-client.ts";

/** The client's limit in a browser, in bytes of gzip. */
const LIMIT = 25_000;

test("the client in a browser is at most 25 kB, has no package in it and nothing of Node's", async () => {
  const { code, metafile } = await bundleClient(true);
  expect(gzipSync(code, { level: 9 }).length).toBeLessThanOrEqual(LIMIT);
  expect(Object.keys(metafile.inputs).filter((path) => !path.startsWith("client/"))).toEqual([]);
});

/** A subscriber's program: what it expects of the types. */
const program = `
import { createCoverClient, hasCode, isRetryable, viemWallet } from "parametric-cover-service/client";
import { createWalletClient, http } from "viem";
import { privateKeyToAccount } from "viem/accounts";

const account = privateKeyToAccount("0x01");
const wallet = viemWallet(createWalletClient({ account, transport: http() }));
const cover = createCoverClient({ baseUrl: "https://cover.example", apiKey: "lk_", wallet });
const pending = await cover.buy({ product: "FLASHBTC24-001", coverageAmount: 1_000_000_000n, maxPremium: 60_000_000n });
const receipt = await pending.wait({ signal: AbortSignal.timeout(60_000) });
const spent: bigint = receipt.premiumPaid;
const { premium }: { premium: bigint } = await cover.quote({ product: "FLASHBTC24-001", coverageAmount: spent });
for await (const { totalPriceUsdc, sellerAddress } of cover.market.listings()) {
  const [price, name]: [bigint, string] = [totalPriceUsdc, sellerAddress];
  console.log(price + premium, name);
}
for await (const event of cover.stats.activity({ type: "policy_purchased" })) console.log(event.actor);
try {
  await cover.policies.get({ productId: receipt.productId, policyId: receipt.policyId });
} catch (error) {
  if (hasCode(error, "policy_not_found")) console.log(error.status, error.retryable);
  if (isRetryable(error)) console.log(error.retryAfterSeconds);
}
// @ts-expect-error an amount is a bigint
await cover.buy({ product: "FLASHBTC24-001", coverageAmount: 1000 });
// @ts-expect-error there is no such code
hasCode(new Error(), "no_such_code");
`;

test("a program that knows only the package's types compiles, and a wrong call does not", async () => {
  const folder = mkdtempSync(join(inject("runFolder"), "client-types-"));
  await emitClientTypes(join(folder, "client"));
  writeFileSync(join(folder, "program.ts"), program);
  const compilerOptions = {
    target: "ES2022",
    lib: ["ES2023", "DOM"],
    module: "NodeNext",
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    paths: {
      "parametric-cover-service/client": [join(folder, "client", "index.d.ts")],
    },
  };
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  symlinkSync(join(projectRoot, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["program.ts"] }));
  const tsc = join(projectRoot, "node_modules", "typescript", "bin", "tsc");
  const failed = await promisify(execFile)(process.execPath, [tsc, "-p", folder]).then(
    () => "",
    (error: { stdout?: string }) => String(error.stdout),
  );
  expect(failed).toBe("");
});

/** A program of another project: it prints what it has imported. */
const importing = `
import { createCoverClient } from "parametric-cover-service/client";
import { verifyWebhook } from "parametric-cover-service/webhooks";
console.log(typeof createCoverClient({ baseUrl: "https://cover.example" }).buy, typeof verifyWebhook);
`;

test("another project installs the packed folder offline, gets no other package, and imports client and types", async () => {
  const folder = mkdtempSync(join(inject("runFolder"), "client-package-"));
  const [built, project] = [join(folder, "client"), join(folder, "project")];
  const npm = (...args: string[]) => promisify(execFile)("npm", [...args, "--offline"], { cwd: project });
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), '{"type":"module"}');
  writeFileSync(join(project, "program.ts"), importing);
  await Promise.all([buildClient(built), emitClientTypes(built)]);
  const { stdout: archive } = await npm("pack", built);
  await npm("install", "--no-audit", "--no-fund", archive.trim());
  const installed = readdirSync(join(project, "node_modules"));
  expect(installed.filter((name) => !name.startsWith("."))).toEqual(["parametric-cover-service"]);
  const run = ["--input-type=module", "--eval", importing];
  const { stdout } = await promisify(execFile)(process.execPath, run, { cwd: project });
  expect(stdout.trim()).toBe("function function");
  const tsc = join(projectRoot, "node_modules", "typescript", "bin", "tsc");
  const options = ["--noEmit", "--strict", "--module", "NodeNext", "--target", "ES2022"];
  const compiling = promisify(execFile)(process.execPath, [tsc, ...options, "program.ts"], { cwd: project });
  expect((await compiling).stdout).toBe("");
});
