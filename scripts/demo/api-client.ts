/** An API client that prints each call and its response. */
import { Agent, type Dispatcher, fetch } from "undici";
import type { z } from "zod";
import { waitFor } from "../local/wait.ts";

const timeoutMs = 60_000;

/** Entries of a list that are printed, and hex digits of a call's data: all of a hash, a key and a signature. */
const [entries, digits] = [3, 132];

/** Shortens lists to their first entries, and calldata to its selector. */
function shortened(_key: string, value: unknown): unknown {
  if (Array.isArray(value) && value.length > entries)
    return [...value.slice(0, entries), `… and ${value.length - entries} more`];
  if (typeof value === "string" && value.startsWith("0x") && value.length > digits)
    return `${value.slice(0, 10)}… (${value.length / 2 - 1} bytes)`;
  return value;
}

export type Call = {
  readonly method?: "GET" | "POST" | "DELETE";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Does not print a successful response. */
  readonly quiet?: boolean;
};

export type Answer = { readonly status: number; readonly body: unknown; readonly retryAfter: number };

function print(path: string, { method = "GET", body }: Call, answer: Answer): void {
  console.log(`\n→ ${method} ${path}${body === undefined ? "" : ` ${JSON.stringify(body)}`}`);
  console.log(`← ${answer.status} ${JSON.stringify(answer.body, shortened, 2)}`);
}

/** Opens the client; `from` may use another local address. */
export function openApi(apiUrl: string, from?: Dispatcher) {
  async function send(path: string, { method = "GET", headers = {}, body }: Call): Promise<Answer> {
    const response = await fetch(`${apiUrl}${path}`, {
      method,
      headers: body === undefined ? headers : { ...headers, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(from ? { dispatcher: from } : {}),
      signal: AbortSignal.timeout(timeoutMs),
    });
    return {
      status: response.status,
      body: await response.json(),
      retryAfter: Number(response.headers.get("retry-after") ?? 1),
    };
  }

  /** Resolves for every status. Without a `Retry-After` header, `retryAfter` is a second. */
  async function ask(path: string, call: Call = {}): Promise<Answer> {
    const answer = await send(path, call);
    if (!call.quiet || answer.status >= 300) print(path, call, answer);
    return answer;
  }

  return {
    ask,
    /** @throws when the response is no success, or its body has another shape. */
    async call<T>(path: string, shape: z.ZodType<T>, call: Call = {}): Promise<T> {
      const { status, body } = await ask(path, call);
      if (status >= 300) throw new Error(`${call.method ?? "GET"} ${path} returned ${status}`);
      return shape.parse(body);
    },
    /** Reads until the body has this shape, and prints only that answer. `what` is for the timeout's message. */
    readOnce: <T>(path: string, shape: z.ZodType<T>, what: string): Promise<T> =>
      waitFor({
        what,
        probe: async () => {
          const answer = await send(path, {});
          const found = shape.parse(answer.body);
          print(path, {}, answer);
          return found;
        },
      }),
  };
}

export type Api = ReturnType<typeof openApi>;

const randomByte = () => 2 + Math.floor(Math.random() * 250);

/**
 * Opens the API from another loopback address, so that the demo does not use up the limits of the usual address. Falls back
 * to the usual address where the machine has no others, or the API is remote.
 */
export async function openApiFromOtherAddress(apiUrl: string): Promise<Api> {
  if (new URL(apiUrl).hostname !== "127.0.0.1") return openApi(apiUrl);
  const localAddress = `127.${randomByte()}.${randomByte()}.${randomByte()}`;
  const agent = new Agent({ localAddress });
  try {
    const response = await fetch(`${apiUrl}/health`, {
      dispatcher: agent,
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.body?.cancel();
  } catch {
    await agent.close();
    return openApi(apiUrl);
  }
  console.log(
    `\nThe following calls come from ${localAddress}, so that they do not use up your own address's limits.`,
  );
  return openApi(apiUrl, agent);
}
