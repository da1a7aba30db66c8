/** Invalid input for a new webhook, and creation while the node or the resolver is down. */
import { beforeAll, describe, expect, test } from "vitest";
import { createTargets } from "../../api/webhooks/url-check.ts";
import { ResolverUnavailable } from "../../lib/webhooks/target-guard.ts";
import { openProtocol } from "../../scripts/local/protocol/actions/index.ts";
import { startChain } from "../support/chain.ts";
import { freshDatabase } from "../support/database.ts";
import { checkedRequests } from "../support/openapi.ts";
import { type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { startStack } from "../support/stack.ts";
import { failure, invalidFields, messageOf, type TestApi } from "./support/api.ts";
import { LOCAL_URL } from "./support/webhook-fixture.ts";
import { newSubscriber } from "./support/webhooks.ts";

let api: TestApi;
/** An api on the same database with WEBHOOK_ALLOW_HOSTS. */
let withAllowedHosts: TestApi;
let node: RpcProxy;
beforeAll(async () => {
  const chain = await startChain();
  node = await startRpcProxy(chain.url);
  const databaseUrl = await freshDatabase();
  const open = async (env: Record<string, string>): Promise<TestApi> => {
    const stack = await startStack({ chain, databaseUrl, services: ["api"], env: { api: env } });
    const protocol = openProtocol(chain.deployment, chain.url);
    return { chain, protocol, stack, request: await checkedRequests(stack.apiUrl) };
  };
  api = await open({ RPC_URL: node.url });
  withAllowedHosts = await open({ WEBHOOK_ALLOW_HOSTS: "hooks.internal:9000" });
});

describe("an invalid webhook", () => {
  test.each<[name: string, body: unknown, fields: string[]]>([
    ["no fields", {}, ["events", "url"]],
    ["a list instead of an object", [], ["body"]],
    ["no url", { events: "*" }, ["url"]],
    ["a url that is a number", { url: 1, events: "*" }, ["url"]],
    ["an empty url", { url: "", events: "*" }, ["url"]],
    ["a url without a scheme", { url: "example.com/hook", events: "*" }, ["url"]],
    ["the scheme ftp", { url: "ftp://1.1.1.1/", events: "*" }, ["url"]],
    ["the scheme http", { url: "http://1.1.1.1/", events: "*" }, ["url"]],
    ["a port other than 443", { url: "https://1.1.1.1:8443/", events: "*" }, ["url"]],
    ["a user in the url", { url: "https://user@1.1.1.1/", events: "*" }, ["url"]],
    ["a leading space", { url: " https://1.1.1.1/", events: "*" }, ["url"]],
    ["a private address", { url: "https://10.0.0.1/", events: "*" }, ["url"]],
    ["a cloud metadata address", { url: "https://169.254.169.254/", events: "*" }, ["url"]],
    ["an IPv4-mapped loopback address", { url: "https://[::ffff:127.0.0.1]/", events: "*" }, ["url"]],
    ["a url above 2048 characters", { url: `https://1.1.1.1/${"x".repeat(2048)}`, events: "*" }, ["url"]],
    ["no events", { url: LOCAL_URL }, ["events"]],
    ["an empty list of events", { url: LOCAL_URL, events: [] }, ["events"]],
    ["an unknown event outside a list", { url: LOCAL_URL, events: "policy_sold" }, ["events"]],
    ["an unknown event", { url: LOCAL_URL, events: ["policy_purchased", "policy_sold"] }, ["events"]],
    ["the event of test calls", { url: LOCAL_URL, events: ["webhook_test"] }, ["events"]],
    ["* together with an event", { url: LOCAL_URL, events: ["*", "policy_purchased"] }, ["events"]],
    ["only event_reverted", { url: LOCAL_URL, events: ["event_reverted", "event_reverted"] }, ["events"]],
    ["null events", { url: LOCAL_URL, events: null }, ["events"]],
    ["a list of 101 events", { url: LOCAL_URL, events: Array(101).fill("bond_minted") }, ["events"]],
  ])("with %s gets 400 with the field's name", async (_, body, fields) => {
    const owner = await newSubscriber(api);
    const answer = await owner.call("POST", "", body);
    expect(failure(answer)).toEqual([400, "validation_error"]);
    expect([...new Set(invalidFields(answer).map((path) => path.split(".")[0]))]).toEqual(fields);
    expect((await owner.call("GET")).json).toMatchObject({ total: 0 });
  });

  test("with a private address gets the reason", async () => {
    const owner = await newSubscriber(api);
    const answer = await owner.call("POST", "", { url: "https://192.168.0.1/", events: "*" });
    expect(messageOf(answer)).toMatch(/url leads to a private/);
  });

  test("with a loopback address gets 400 if WEBHOOK_ALLOW_HOSTS is set, and with an allowed host is created", async () => {
    const owner = await newSubscriber(withAllowedHosts);
    const refused = await owner.call("POST", "", { url: LOCAL_URL, events: "*" });
    expect(invalidFields(refused)).toEqual(["url"]);
    await owner.subscribe("http://hooks.internal:9000/hook");
  });
});

describe("while a dependency is down", () => {
  test("without the chain's node creation gets 503, and no webhook is created", async () => {
    const owner = await newSubscriber(api);
    await owner.subscribe(LOCAL_URL); // the api now knows that the chain is local
    node.intercept(async () => "lost");
    const answer = await owner.call("POST", "", { url: LOCAL_URL, events: "*" });
    node.intercept();
    expect(failure(answer)).toEqual([503, "chain_not_found"]);
    expect(answer.headers.get("retry-after")).toBe("30");
    expect((await owner.call("GET")).json).toMatchObject({ total: 1 });
  });

  test("without name servers the check gets 503 resolver_unavailable", async () => {
    const targets = (resolve: () => Promise<readonly string[]>) =>
      createTargets({ allow: undefined, isLocalChain: async () => false, resolve });
    const check = (resolve: () => Promise<readonly string[]>) =>
      targets(resolve).check("https://example.com/hook");
    await expect(check(() => Promise.reject(new ResolverUnavailable("away")))).rejects.toMatchObject({
      ...{ code: "resolver_unavailable", status: 503, retryAfter: 30 },
    });
    await expect(check(() => new Promise(() => {}))).rejects.toMatchObject({ code: "resolver_unavailable" });
    await expect(check(async () => ["93.184.216.34", "10.0.0.1"])).rejects.toMatchObject({
      ...{ code: "validation_error", details: [{ path: "url" }] },
    });
    expect(await check(async () => ["93.184.216.34"])).toBe("https://example.com/hook");
  });
});
