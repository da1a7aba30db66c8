import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { anvilAccount } from "../../lib/chain/client.ts";
import type { ContractKey } from "../../lib/deployments.ts";
import { freePort } from "../../scripts/local/ports.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { http } from "../support/http.ts";
import { checkedRequests } from "../support/openapi.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { admin, failure, messageOf } from "./support/api.ts";
import { ONBOARD, signInBody } from "./support/onboarding.ts";

let chain: TestChain;
beforeAll(async () => {
  chain = await startChain();
});

/** The chain's deployment file with changes. */
function deploymentFile(changes: Record<string, unknown>): string {
  const folder = join(inject("runFolder"), "deployments");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${Math.random()}.json`);
  writeFileSync(file, JSON.stringify({ ...chain.deployment, ...changes }));
  return file;
}

/** Starts the api and waits until it exits. */
async function runUntilExit(env: Record<string, string>): Promise<{ code: number | null; output: string }> {
  const stack = await startStack({ chain, services: [], env: { api: env } });
  const { code } = await (await stack.start("api", { wait: false })).exited;
  return { code, output: stack.output("api") };
}

describe("the api exits with code 1", () => {
  test("on invalid variables, and names each of them", async () => {
    const { code, output } = await runUntilExit({
      PORT: "99999",
      DATABASE_URL: "mysql://x",
      RPC_URL: "",
      ADMIN_TOKEN: "short",
      PURCHASE_WAIT_MS: "soon",
    });
    expect(code).toBe(1);
    for (const name of ["PORT", "DATABASE_URL", "RPC_URL is required", "ADMIN_TOKEN", "PURCHASE_WAIT_MS"]) {
      expect(output).toContain(name);
    }
  });

  test("on a port already in use", async () => {
    const server = createServer();
    const port = await freePort();
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    const { code, output } = await runUntilExit({ PORT: String(port) });
    server.close();
    expect([code, output]).toEqual([1, expect.stringContaining("EADDRINUSE")]);
  });

  test("on default secrets and without PUBLIC_URL on a non-local chain, and names each beside other faults", async () => {
    const { code, output } = await runUntilExit({
      DEPLOYMENT_FILE: deploymentFile({ local: false }),
      PORT: "99999",
    });
    expect(code).toBe(1);
    for (const name of [
      "ADMIN_TOKEN must be set",
      "SECRETS_KEY must be set",
      "PUBLIC_URL must be set",
      "PORT must",
    ]) {
      expect(output).toContain(name);
    }
  });
});

describe("on a non-local chain", () => {
  const adminToken = randomBytes(32).toString("hex");
  let stack: Stack;
  beforeAll(async () => {
    const env = {
      ADMIN_TOKEN: adminToken,
      SECRETS_KEY: randomBytes(32).toString("hex"),
      DEPLOYMENT_FILE: deploymentFile({ local: false }),
      PUBLIC_URL: "https://cover.example/v1",
    };
    stack = await startStack({ chain, services: ["api"], env: { api: env } });
  });

  test("a custom admin token is accepted, and the default one gets 401", async () => {
    const request = await checkedRequests(stack.apiUrl);
    const generate = (token: string) =>
      request("/api/v1/keys/generate", {
        headers: { "x-admin-token": token },
        body: { wallet: anvilAccount(2).address },
      });
    expect((await generate(adminToken)).status).toBe(201);
    expect(failure(await generate(admin["x-admin-token"]))).toEqual([401, "unauthenticated"]);
  });

  test("a signed EIP-4361 message must name PUBLIC_URL's host, not the request's", async () => {
    const request = await checkedRequests(stack.apiUrl);
    const onboard = async (url: string) => request(ONBOARD, { body: await signInBody(anvilAccount(3), url) });
    expect((await onboard("https://cover.example")).status).toBe(201);
    const refused = await onboard(stack.apiUrl);
    expect(failure(refused)).toEqual([400, "invalid_body"]);
    expect(messageOf(refused)).toContain("must name the domain cover.example");
  });
});

test("the default token gets 403 on a node that is not anvil, even if the deployment file says local", async () => {
  // Forwards to anvil and replaces the client version.
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(Buffer.from(chunk));
    const answer = await fetch(chain.url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: Buffer.concat(chunks).toString(),
    });
    outgoing.setHeader("content-type", "application/json");
    outgoing.end((await answer.text()).replace(/anvil\/v[^"]*/, "Geth/v1.16.0"));
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const stack = await startStack({ chain, services: ["api"], rpcUrl: `http://127.0.0.1:${port}` });
  const answer = await http(`${stack.apiUrl}/api/v1/keys/generate`, {
    headers: admin,
    body: { wallet: anvilAccount(2).address },
  });
  expect(failure(answer)).toEqual([403, "forbidden"]);
  await stack.stop();
  server.closeAllConnections();
  server.close();
});

test("with a deployment file that lacks contracts the api starts, and its errors name them", async () => {
  const {
    usdc: _usdc,
    policyManager: _manager,
    ...contracts
  }: Partial<Record<ContractKey, string>> = chain.deployment.contracts;
  const env = { DEPLOYMENT_FILE: deploymentFile({ contracts }) };
  const stack = await startStack({ chain, services: ["api"], env: { api: env } });
  const request = await checkedRequests(stack.apiUrl);
  for (const path of ["/health", "/products"]) {
    const answer = await request(path);
    expect(failure(answer)).toEqual([500, "health_contracts_incomplete"]);
    expect(messageOf(answer)).toContain("policyManager, usdc");
    expect(messageOf(answer)).not.toContain("coverRouter");
  }
  expect((await request("/openapi.json")).status).toBe(200);
});
