/** Speaks the Model Context Protocol with a stack, by the protocol's own client: over HTTP, and over stdio. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { z } from "zod";
import { projectRoot } from "../../../lib/project-root.ts";
import { waitFor } from "../../../scripts/local/wait.ts";
import { atEnd } from "../../support/cleanup.ts";

/** Longest wait for an answer, in ms: the client's own minute is short on a busy machine. */
const TIMEOUT_MS = 400_000;

export type ToolAnswer = {
  readonly isError: boolean;
  readonly text: string;
  readonly data: Record<string, unknown>;
};

export type Agent = {
  readonly client: Client;
  /** Calls a tool. */
  readonly tool: (name: string, args?: Record<string, unknown>) => Promise<ToolAnswer>;
  /** Calls a tool that must succeed, and again while its purchase is pending. */
  readonly done: (name: string, args?: Record<string, unknown>) => Promise<Record<string, unknown>>;
};

const content = z.tuple([z.object({ type: z.literal("text"), text: z.string() })]);
const data = z.record(z.string(), z.unknown()).default({});

async function connected(
  transport: StdioClientTransport | StreamableHTTPClientTransport,
  mode: "legacy" | "auto",
): Promise<Agent> {
  const client = new Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode } });
  await client.connect(transport, { timeout: TIMEOUT_MS });
  atEnd(() => client.close());
  const tool = async (name: string, args: Record<string, unknown> = {}): Promise<ToolAnswer> => {
    const result = await client.callTool({ name, arguments: args }, { timeout: TIMEOUT_MS });
    const [{ text }] = content.parse(result.content);
    return { isError: result.isError ?? false, text, data: data.parse(result.structuredContent) };
  };
  const done = (name: string, args?: Record<string, unknown>) =>
    waitFor({
      what: `${name} to succeed`,
      probe: async () => {
        const answer = await tool(name, args);
        if (!answer.isError) return answer.data;
        if (/^(purchase_pending|indexer_syncing|indexer_unavailable):/.test(answer.text)) return undefined;
        throw new Error(answer.text);
      },
    });
  return { client, tool, done };
}

type Key = { readonly "x-api-key": string };
type KeyHeaders = Partial<Key> & { readonly authorization?: string };

/** Over HTTP, in the protocol's version of 2025-11-25. */
export const overHttp = (apiUrl: string, headers?: KeyHeaders): Promise<Agent> =>
  connected(
    new StreamableHTTPClientTransport(new URL(`${apiUrl}/mcp`), { requestInit: { headers } }),
    "legacy",
  );

/** Over HTTP, in the newest version that client and server know. */
export const overNewHttp = (apiUrl: string, headers?: Key): Promise<Agent> =>
  connected(
    new StreamableHTTPClientTransport(new URL(`${apiUrl}/mcp`), { requestInit: { headers } }),
    "auto",
  );

/** Over stdio: starts `npm run mcp` as a host does. */
export const overStdio = (apiUrl: string, headers?: Key): Promise<Agent> =>
  connected(
    new StdioClientTransport({
      command: "npm",
      args: ["--silent", "run", "mcp"],
      cwd: projectRoot,
      env: { ...getDefaultEnvironment(), API_URL: apiUrl, API_KEY: headers?.["x-api-key"] ?? "" },
    }),
    "legacy",
  );
