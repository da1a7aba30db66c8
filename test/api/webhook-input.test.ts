/** What a webhook cannot be made of, and what must be there to make one. */
import { beforeAll, describe, expect, test } from "vitest";
import { createTargets } from "../../api/webhooks/targets.ts";
import { ResolverUnavailable } from "../../lib/webhooks/guard.ts";
import { openProtocol } from "../../scripts/local/protocol/actions/index.ts";
import { startChain } from "../support/chain.ts";
import { freshDatabase } from "../support/database.ts";
import { checkedRequests } from "../support/openapi.ts";
import { type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { startStack } from "../support/stack.ts";
import { failure, faultyFields, messageOf, type TestApi } from "./support/api.ts";
import { URL_HERE } from "./support/webhook-desk.ts";
import { newSubscriber } from "./support/webhooks.ts";

let api: TestApi;
/** Of the same service; its operator has named hosts. */
let named: TestApi;
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
  named = await open({ WEBHOOK_ALLOW_HOSTS: "hooks.internal:9000" });
});

describe("a faulty wish", () => {
  test.each<[what: string, body: unknown, fields: string[]]>([
    ["nothing", {}, ["events", "url"]],
    ["a list", [], ["body"]],
    ["no address", { events: "*" }, ["url"]],
    ["a number for an address", { url: 1, events: "*" }, ["url"]],
    ["an empty address", { url: "", events: "*" }, ["url"]],
    ["no URL", { url: "example.com/hook", events: "*" }, ["url"]],
    ["another scheme", { url: "ftp://1.1.1.1/", events: "*" }, ["url"]],
    ["http", { url: "http://1.1.1.1/", events: "*" }, ["url"]],
    ["another port", { url: "https://1.1.1.1:8443/", events: "*" }, ["url"]],
    ["a user", { url: "https://user@1.1.1.1/", events: "*" }, ["url"]],
    ["a space", { url: " https://1.1.1.1/", events: "*" }, ["url"]],
    ["a private address", { url: "https://10.0.0.1/", events: "*" }, ["url"]],
    ["the metadata of a cloud", { url: "https://169.254.169.254/", events: "*" }, ["url"]],
    ["loopback in disguise", { url: "https://[::ffff:127.0.0.1]/", events: "*" }, ["url"]],
    ["a long address", { url: `https://1.1.1.1/${"x".repeat(2048)}`, events: "*" }, ["url"]],
    ["no events", { url: URL_HERE }, ["events"]],
    ["an empty list", { url: URL_HERE, events: [] }, ["events"]],
    ["a name without a list", { url: URL_HERE, events: "policy_purchased" }, ["events"]],
    ["an unknown event", { url: URL_HERE, events: ["policy_purchased", "policy_sold"] }, ["events"]],
    ["the test's event", { url: URL_HERE, events: ["webhook_test"] }, ["events"]],
    ["all and some", { url: URL_HERE, events: ["*", "policy_purchased"] }, ["events"]],
    ["reversals of nothing", { url: URL_HERE, events: ["event_reverted", "event_reverted"] }, ["events"]],
    ["null", { url: URL_HERE, events: null }, ["events"]],
    ["an endless list", { url: URL_HERE, events: Array(101).fill("bond_minted") }, ["events"]],
  ])("with %s is 400 and names the field", async (_, body, fields) => {
    const owner = await newSubscriber(api);
    const answer = await owner.call("POST", "", body);
    expect(failure(answer)).toEqual([400, "validation_error"]);
    expect([...new Set(faultyFields(answer).map((path) => path.split(".")[0]))]).toEqual(fields);
    expect((await owner.call("GET")).json).toMatchObject({ total: 0 });
  });

  test("tells why an address is refused", async () => {
    const owner = await newSubscriber(api);
    const answer = await owner.call("POST", "", { url: "https://192.168.0.1/", events: "*" });
    expect(messageOf(answer)).toMatch(/url leads to a private/);
  });

  test("is one that leads to this machine, once the operator names other hosts", async () => {
    const owner = await newSubscriber(named);
    const refused = await owner.call("POST", "", { url: URL_HERE, events: "*" });
    expect(faultyFields(refused)).toEqual(["url"]);
    await owner.subscribe("http://hooks.internal:9000/hook");
  });
});

describe("what is away", () => {
  test("the chain's node: 503, and nothing is made", async () => {
    const owner = await newSubscriber(api);
    await owner.subscribe(URL_HERE); // it knows by now that the chain is a local one
    node.intercept(async () => "lost");
    const answer = await owner.call("POST", "", { url: URL_HERE, events: "*" });
    node.intercept();
    expect(failure(answer)).toEqual([503, "chain_not_found"]);
    expect(answer.headers.get("retry-after")).toBe("30");
    expect((await owner.call("GET")).json).toMatchObject({ total: 1 });
  });

  test("the name servers: 503, for nobody knows where the name leads", async () => {
    const targets = (resolve: () => Promise<readonly string[]>) =>
      createTargets({ allow: undefined, isLocal: async () => false, resolve });
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
