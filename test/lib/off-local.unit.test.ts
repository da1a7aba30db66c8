/** The api's variables off local chains: secrets must not be public or trivial, and links need an address. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { DEV_ADMIN_TOKEN, DEV_SECRETS_KEY, secretsKeyFault, unsafeOffLocal } from "../../lib/off-local.ts";

const folder = mkdtempSync(join(tmpdir(), "off-local-"));
afterAll(() => rmSync(folder, { recursive: true }));

function deployment(local: boolean): string {
  const file = join(folder, `${local}.json`);
  writeFileSync(file, JSON.stringify({ chainId: 8453, name: "Base", local, startBlock: 0, contracts: {} }));
  return file;
}

const publicFile = deployment(false);
const hex = () => randomBytes(32).toString("hex");
const safe = () => ({
  DEPLOYMENT_FILE: publicFile,
  ADMIN_TOKEN: hex(),
  SECRETS_KEY: hex(),
  PUBLIC_URL: "https://cover.example",
});

test("random secrets and a public URL are safe", () => {
  for (let i = 0; i < 200; i += 1) expect(unsafeOffLocal(safe())).toEqual([]);
  // `openssl rand -hex 16` and a passphrase of the operator's own
  expect(unsafeOffLocal({ ...safe(), ADMIN_TOKEN: randomBytes(16).toString("hex") })).toEqual([]);
  expect(unsafeOffLocal({ ...safe(), ADMIN_TOKEN: "correct horse battery staple, mounted" })).toEqual([]);
});

test.each([
  ["missing", undefined],
  ["the dev stack's", DEV_ADMIN_TOKEN],
  ["a word", "password"],
  ["31 characters", randomBytes(16).toString("hex").slice(1)],
  ["one character repeated", "a".repeat(64)],
  ["a short pattern repeated", "12345".repeat(10)],
])("an admin token that is %s is refused", (_, ADMIN_TOKEN) => {
  expect(unsafeOffLocal({ ...safe(), ADMIN_TOKEN })).toEqual([
    ["ADMIN_TOKEN", expect.stringMatching(/^must be/)],
  ]);
});

test.each([
  ["missing", undefined],
  ["the dev stack's", DEV_SECRETS_KEY],
  ["the dev stack's in upper case", DEV_SECRETS_KEY.toUpperCase()],
  ["all zero", "0".repeat(64)],
  ["one byte repeated", "12".repeat(32)],
  ["half a key twice in a row of counted bytes", "000102030405060708090a0b0c0d0e0f".repeat(2)],
])("a secrets key that is %s is refused", (_, SECRETS_KEY) => {
  expect(unsafeOffLocal({ ...safe(), SECRETS_KEY })).toEqual([
    ["SECRETS_KEY", expect.stringMatching(/^must be/)],
  ]);
  expect(secretsKeyFault(SECRETS_KEY)).toMatch(/^must be/);
});

test("PUBLIC_URL is required, and all faults are named together", () => {
  const { DEPLOYMENT_FILE } = safe();
  expect(unsafeOffLocal({ DEPLOYMENT_FILE }).map(([name]) => name)).toEqual([
    "ADMIN_TOKEN",
    "SECRETS_KEY",
    "PUBLIC_URL",
  ]);
});

test("on a local chain, and where the deployment file cannot be read, nothing is required", () => {
  expect(unsafeOffLocal({ DEPLOYMENT_FILE: deployment(true) })).toEqual([]);
  expect(unsafeOffLocal({ DEPLOYMENT_FILE: join(folder, "missing.json") })).toEqual([]);
  expect(unsafeOffLocal({})).toEqual([]);
});
