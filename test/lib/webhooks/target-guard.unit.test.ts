/** The URLs that webhooks may call. test/workers/webhook-targets.unit.test.ts sends deliveries to the same table. */
import { describe, expect, test } from "vitest";
import { parseAllowedHosts } from "../../../lib/webhooks/allowed-hosts.ts";
import { createTargetGuard, ResolverUnavailable, TargetRefused } from "../../../lib/webhooks/target-guard.ts";
import { goodTargets, hostileTargets, resolveNames } from "./targets.ts";

const guard = createTargetGuard({ allow: [], resolve: resolveNames });

/** The addresses that a connection would use. */
const lookup = (target: ReturnType<typeof createTargetGuard>, name: string, all = true) =>
  new Promise((resolve, reject) => {
    target.lookup(name, { all }, (error, addresses, family) =>
      error ? reject(error) : resolve(all ? addresses : [addresses, family]),
    );
  });

describe("refused targets", () => {
  test("the table has at least 90 distinct targets", () => {
    expect(new Set(hostileTargets.map(([target]) => target)).size).toBeGreaterThanOrEqual(90);
  });
  test.each(hostileTargets)("%s: %s", async (target, reason) => {
    const verdict = await guard.check(target);
    expect(verdict.ok).toBe(false);
    if (!verdict.ok) expect(verdict.reason).toContain(reason);
  });
  test("the reason does not reveal whether a name exists, nor its addresses", async () => {
    const reasonOf = (host: string) => guard.check(`https://${host}/`);
    const absent = await reasonOf("nowhere.example.com");
    expect(absent).toMatchObject({ ok: false });
    for (const host of ["private.example.com", "mixed.example.com", "metadata.google.internal"]) {
      expect(await reasonOf(host)).toEqual(absent);
    }
  });
});

test.each(goodTargets)("%s is allowed", async (target) => {
  expect(await guard.check(target)).toEqual({ ok: true, url: new URL(target).href });
});

describe("connections", () => {
  test("use the addresses of the newest DNS answer", async () => {
    const answers = [["93.184.216.34"], ["127.0.0.1"], ["93.184.216.34", "::1"]];
    const changing = createTargetGuard({ allow: [], resolve: async () => answers.shift() ?? [] });
    expect(await changing.check("https://changing.example.com/")).toMatchObject({ ok: true });
    for (let i = 0; i < 3; i += 1) {
      await expect(lookup(changing, "changing.example.com")).rejects.toThrow(TargetRefused);
    }
  });
  test("get all addresses, or the first one, as the caller asks", async () => {
    expect(await lookup(guard, "dual.example.com")).toEqual([
      { address: "93.184.216.34", family: 4 },
      { address: "2606:2800:220:1::1", family: 6 },
    ]);
    expect(await lookup(guard, "six.example.com", false)).toEqual(["2606:2800:220:1::1", 6]);
  });
});

test("a resolver outage is an error, neither an approval nor a refusal", async () => {
  const resolve = async () => {
    throw new ResolverUnavailable("no answer");
  };
  const offline = createTargetGuard({ allow: [], resolve });
  await expect(offline.check("https://public.example.com/")).rejects.toThrow(ResolverUnavailable);
  await expect(lookup(offline, "public.example.com")).rejects.toThrow(ResolverUnavailable);
  expect(await offline.check("https://10.0.0.1/")).toMatchObject({ ok: false });
});

describe("hosts that the operator allows", () => {
  test.each(["*.internal", "hooks.internal,*", "10.0.0.*:9000"])("%s is not a valid list", (text) => {
    expect(parseAllowedHosts(text)).toBeUndefined();
  });
  const allow = parseAllowedHosts("hooks.internal,10.0.0.7:9000,[::1]:8080,secure.internal:443") ?? [];
  const open = createTargetGuard({ allow, resolve: resolveNames });
  test.each([
    "http://hooks.internal/",
    "http://hooks.internal:1234/",
    "https://hooks.internal:8443/",
    "http://10.0.0.7:9000/hook",
    "http://167772167:9000/hook",
    "https://10.0.0.7:9000/",
    "http://[::1]:8080/",
    "http://[0::1]:8080/",
    "https://secure.internal/",
  ])("%s is allowed", async (target) => {
    expect(await open.check(target)).toEqual({ ok: true, url: new URL(target).href });
  });
  test.each([
    "http://10.0.0.7/",
    "http://10.0.0.7:9001/",
    "http://10.0.0.8:9000/",
    "http://[::1]/",
    "http://secure.internal/",
    "http://other.hooks.internal/",
    "http://hooks.internal.example.com/",
    "http://user@hooks.internal/",
    "ftp://hooks.internal/",
    "http://hooks.internal./",
    "https://private.example.com/",
  ])("%s is refused", async (target) => {
    expect(await open.check(target)).toMatchObject({ ok: false });
  });
});
