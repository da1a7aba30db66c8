/** The server of the Model Context Protocol: tools, resources and prompts over calls to our own API. */
import { McpServer } from "@modelcontextprotocol/server";
import { API_VERSION } from "../http/api-version.ts";
import type { CallApi } from "./api-call.ts";
import { addBuyingTools } from "./buying-tools.ts";
import { addPrompts } from "./prompts.ts";
import { addReadingTools } from "./reading-tools.ts";
import { addResources } from "./resources.ts";
import { addWalletTools } from "./wallet-tools.ts";

const INSTRUCTIONS = `Parametric cover: a policy pays when BTC or ETH falls by a fixed share within its window. It pays in bonds, which mature after two years and can be sold before.
Amounts are decimal strings in base units: "1000000" is 1 USDC. Bonds are whole dollars.
Get a quote before you buy, agree on the premium with the user, and pass it as \`maxPremium\`. Use a new \`requestId\` for each wanted purchase, and the same one to repeat a call.
The API key has limits that no tool can change: scopes, products, premium per purchase and per day.`;

/** Most array elements and object members of a tool call's arguments: the largest valid call has about ten. */
const MAX_INPUT_ELEMENTS = 100;

/** Creates a server whose tools call the API by `call`. */
export function createCoverServer(call: CallApi): McpServer {
  const server = new McpServer(
    { name: "parametric-cover-service", title: "Parametric Cover Service", version: API_VERSION },
    { instructions: INSTRUCTIONS, maxToolInputElements: MAX_INPUT_ELEMENTS },
  );
  addReadingTools(server, call);
  addBuyingTools(server, call);
  addWalletTools(server, call);
  addResources(server, call);
  addPrompts(server);
  return server;
}
