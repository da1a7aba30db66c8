import { describe, expect, test } from "vitest";
import { clientOf } from "../../api/http/client-address.ts";
import { apiConfig } from "../../lib/config.ts";

const required = {
  DATABASE_URL: "postgres://user@127.0.0.1/db",
  RPC_URL: "http://127.0.0.1:8545",
  DEPLOYMENT_FILE: "deployment.json",
};
const proxiesOf = (TRUST_PROXY: string) => apiConfig({ ...required, TRUST_PROXY }).TRUST_PROXY;

describe("without a trusted proxy", () => {
  test.each([
    ["203.0.113.9", "203.0.113.9"],
    ["::ffff:203.0.113.9", "203.0.113.9"],
    ["::ffff:cb00:7109", "203.0.113.9"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2::", "2001:db8:1:2::/64"],
    ["2001:DB8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:2::/64"],
    ["2001:db8:1:3::6", "2001:db8:1:3::/64"],
    ["::1", "0:0:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    [undefined, "unknown"],
  ])("the socket address %s gives the client %s", (socket, client) => {
    expect(clientOf(socket, undefined, proxiesOf(""))).toBe(client);
  });

  test("X-Forwarded-For is ignored unless the socket is a trusted proxy", () => {
    expect(clientOf("203.0.113.9", "198.51.100.1", proxiesOf(""))).toBe("203.0.113.9");
    expect(clientOf("203.0.113.9", "198.51.100.1", proxiesOf("0"))).toBe("203.0.113.9");
    expect(clientOf("203.0.113.9", "198.51.100.1", proxiesOf("10.0.0.0/8"))).toBe("203.0.113.9");
  });
});

describe("behind trusted proxies", () => {
  test.each([
    ["1", "10.0.0.1", "198.51.100.1", "198.51.100.1"],
    ["1", "10.0.0.1", "9.9.9.9, 198.51.100.1", "198.51.100.1"],
    ["2", "10.0.0.1", "9.9.9.9, 198.51.100.1, 10.0.0.2", "198.51.100.1"],
    // With fewer entries than proxies, the farthest entry is the best known client.
    ["3", "10.0.0.1", "198.51.100.1", "198.51.100.1"],
    ["10.0.0.0/8", "10.0.0.1", "9.9.9.9,198.51.100.1,10.200.0.2", "198.51.100.1"],
    ["10.0.0.1", "10.0.0.1", "9.9.9.9, 10.0.0.2", "10.0.0.2"],
    ["10.0.0.1, 10.0.0.2", "10.0.0.1", "9.9.9.9, 10.0.0.2", "9.9.9.9"],
    ["loopback", "::1", "198.51.100.1", "198.51.100.1"],
    ["loopback", "::ffff:127.0.0.1", "198.51.100.1", "198.51.100.1"],
    ["uniquelocal,linklocal", "172.20.0.3", "2001:db8:1:2:3::4", "2001:db8:1:2::/64"],
    ["2001:db8::/32", "2001:db8::1", "198.51.100.1", "198.51.100.1"],
    // An IPv4 range contains no IPv6 address.
    ["0.0.0.0/0", "2001:db8::1", "198.51.100.1", "2001:db8:0:0::/64"],
    ["1", "10.0.0.1", "198.51.100.1:4711", "198.51.100.1"],
    ["1", "10.0.0.1", "[2001:db8:1:2::3]:4711", "2001:db8:1:2::/64"],
    // An entry that is not an address ends the search: the last valid address counts.
    ["1", "10.0.0.1", "unknown", "10.0.0.1"],
    ["1", "10.0.0.1", "", "10.0.0.1"],
    ["1", "10.0.0.1", "198.51.100.1, ", "10.0.0.1"],
    ["1", "10.0.0.1", "1", "10.0.0.1"],
  ])("TRUST_PROXY=%s, socket %s, X-Forwarded-For: %s gives %s", (trusted, socket, header, client) => {
    expect(clientOf(socket, header, proxiesOf(trusted))).toBe(client);
  });
});

test.each([
  "-1",
  "17",
  "1.5",
  "true",
  "10.0.0",
  "10.0.0.0/33",
  "10.0.0.1,,10.0.0.2",
  "10.0.0.1;10.0.0.2",
  "0x7f.1",
  "1/8",
  "example.org",
])("the configuration refuses TRUST_PROXY=%s", (text) => {
  expect(() => proxiesOf(text)).toThrow(/TRUST_PROXY must be a number of proxies/);
});
