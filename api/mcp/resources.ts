/** What a host can attach to a conversation: products, statistics, and a wallet's policies and bonds. */
import {
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceTemplate,
} from "@modelcontextprotocol/server";
import { type CallApi, errorText } from "./api-call.ts";
import { statistics } from "./reading-tools.ts";

const JSON_TYPE = "application/json";

/** Adds the resources. None needs a key. */
export function addResources(server: McpServer, call: CallApi): void {
  /** @throws ProtocolError with the API's code and reason */
  async function read(uri: URL, path: string) {
    const answer = await call({ method: "GET", path });
    if (!answer.ok) throw new ProtocolError(ProtocolErrorCode.InvalidParams, errorText(answer));
    return { contents: [{ uri: uri.href, mimeType: JSON_TYPE, text: JSON.stringify(answer.body) }] };
  }
  const one = (value: string | string[] | undefined): string =>
    encodeURIComponent(typeof value === "string" ? value : "");

  server.registerResource(
    "products",
    "cover://products",
    { title: "Products", description: "All products with their terms.", mimeType: JSON_TYPE },
    (uri) => read(uri, "/products"),
  );
  server.registerResource(
    "stats",
    "cover://stats",
    { title: "Statistics", description: "Active cover, in total and by product.", mimeType: JSON_TYPE },
    (uri) => read(uri, statistics.cover),
  );
  server.registerResource(
    "policies of a wallet",
    new ResourceTemplate("cover://wallets/{address}/policies", { list: undefined }),
    { title: "Policies of a wallet", description: "The newest policies of a buyer.", mimeType: JSON_TYPE },
    (uri, { address }) => read(uri, `/api/v1/policies/by-buyer/${one(address)}`),
  );
  server.registerResource(
    "bonds of a wallet",
    new ResourceTemplate("cover://wallets/{address}/bonds", { list: undefined }),
    {
      title: "Bonds of a wallet",
      description: "The bonds that a wallet holds, by maturity.",
      mimeType: JSON_TYPE,
    },
    (uri, { address }) => read(uri, `/api/v1/bonds/by-owner/${one(address)}`),
  );
}
