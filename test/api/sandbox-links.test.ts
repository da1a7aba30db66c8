/** The URLs in the sandbox's responses. */
import { request as httpRequest } from "node:http";
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { boughtBody } from "../../api/sandbox/body.ts";
import { defaultProduct, SANDBOX_COVERAGE } from "../../api/sandbox/terms.ts";
import { startChain, startTestnet, type TestChain } from "../support/chain.ts";
import { checkedRequests } from "../support/openapi.ts";
import { type Stack, startStack } from "../support/stack.ts";

const links = z.object({ docs: z.string() });
const txHash = `0x${"12".repeat(32)}` as const;

let main: TestChain;
let testnet: TestChain;
let stack: Stack;
beforeAll(async () => {
  [main, testnet] = await Promise.all([startChain(), startTestnet()]);
  stack = await startStack({ chain: main, testnet, services: ["api"] });
});

/** The status and `docs` of `GET /sandbox/info` for a client that sends this Host header. */
const infoFor = (host: string) =>
  new Promise<[status: number | undefined, docs: string | undefined]>((resolve, reject) => {
    const { port } = new URL(stack.apiUrl);
    const call = httpRequest({ port, path: "/sandbox/info", headers: { host } }, async (answer) => {
      const text = (await answer.setEncoding("utf8").toArray()).join("");
      resolve([answer.statusCode, links.safeParse(JSON.parse(text)).data?.docs]);
    });
    call.on("error", reject).end();
  });

describe("docs in GET /sandbox/info", () => {
  test.each([
    ["api.example", 200, "http://api.example/api-docs#tag/sandbox"],
    ["api.example:8443", 200, "http://api.example:8443/api-docs#tag/sandbox"],
    ["[::1]:8080", 200, "http://[::1]:8080/api-docs#tag/sandbox"],
    ["a b", 400, undefined],
    ["api.example/x", 400, undefined],
    ["user@api.example", 400, undefined],
    ["<script>", 400, undefined],
  ])("Host: %s gets %i with a link to that host if it is valid", async (host, status, docs) => {
    expect(await infoFor(host)).toEqual([status, docs]);
  });

  test("PUBLIC_URL overrides the host", async () => {
    const env = { api: { PUBLIC_URL: "https://cover.example/v1/" } };
    const configured = await startStack({ chain: main, testnet, services: ["api"], env });
    const { json } = await (await checkedRequests(configured.apiUrl))("/sandbox/info");
    expect(links.parse(json).docs).toBe("https://cover.example/v1/api-docs#tag/sandbox");
    const { json: document } = await configured.request("/openapi.json");
    expect(document).toMatchObject({ servers: [{ url: "https://cover.example/v1" }] });
  });
});

describe("blockExplorer links", () => {
  const at = (explorerUrl: string | null) => {
    const { productId, asset } = defaultProduct;
    const request = { productId, asset, coverageAmount: SANDBOX_COVERAGE, buyer: main.relayer.address };
    const receipt = { txHash, blockNumber: 1n, blockHash: txHash, policyId: 1n, premiumPaid: 1n };
    const deployment = { ...testnet.deployment, explorerUrl };
    return boughtBody({ chainId: 84532, request }, receipt, { deployment, origin: "http://api" })
      .blockExplorer;
  };

  test.each([
    ["to the chain's explorer", "https://sepolia.example", `https://sepolia.example/tx/${txHash}`],
    [
      "to an explorer URL that ends with a slash",
      "https://x.example/eth/",
      `https://x.example/eth/tx/${txHash}`,
    ],
    ["to the api, if the chain has no explorer", null, `http://api/sandbox/transactions/${txHash}`],
  ])("%s", (_, explorerUrl, address) => {
    expect(at(explorerUrl)).toBe(address);
  });
});
