/** Calls of the tools to our own API: in the same process, or over the network. */
import type { CallToolResult } from "@modelcontextprotocol/server";
import { z } from "zod";

export type ApiRequest = {
  readonly method: "GET" | "POST";
  readonly path: string;
  /** Undefined values are left out. */
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

/** `body` is the parsed JSON, undefined where somebody else has answered with something else. `retryAfter` has seconds. */
export type ApiAnswer = {
  readonly ok: boolean;
  readonly status: number;
  readonly body: unknown;
  readonly retryAfter: string | null;
};

/** Sends a request to the API. @throws when no answer comes */
export type CallApi = (request: ApiRequest) => Promise<ApiAnswer>;

/** Who asks, and where. */
export type Caller = {
  /** The API's address, without a trailing slash. */
  readonly baseUrl: string;
  /** Sent with each request: `{ "x-api-key": … }`. */
  readonly headers: Readonly<Record<string, string>>;
};

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Makes calls through `send`: the app's own `fetch`, or that of the platform. */
export function createApiCall(
  send: (request: Request) => Response | Promise<Response>,
  { baseUrl, headers }: Caller,
): CallApi {
  return async ({ method, path, query = {}, body, headers: own }) => {
    const url = new URL(baseUrl + path);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const request = new Request(url, {
      method,
      headers: {
        accept: "application/json",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
        ...own,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // The API redirects nobody, and a key must not follow a redirect to another host.
      redirect: "error",
    });
    try {
      const response = await send(request);
      const { ok, status } = response;
      const answer = await response.text();
      return { ok, status, body: jsonIn(answer), retryAfter: response.headers.get("retry-after") };
    } catch (cause) {
      throw new Error("No answer came from the API: the outcome is unknown.", { cause });
    }
  };
}

const object = z.record(z.string(), z.unknown());
const envelope = z.object({
  code: z.string(),
  message: z.string(),
  details: z.array(z.object({ path: z.string(), message: z.string() })).nullable(),
});

/** An API error as one text for a model: the code, the reason, the faulty fields, and when to try again. */
export function errorText({ status, body, retryAfter }: ApiAnswer): string {
  const { data: error } = envelope.safeParse(body);
  if (!error) return `Not the API, but something in front of it answered ${status}: the outcome is unknown.`;
  const fields = (error.details ?? []).map(({ path, message }) => `\n- ${path}: ${message}`).join("");
  const retry = retryAfter === null ? "" : `\nTry again in ${retryAfter} seconds.`;
  return `${error.code}: ${error.message}${fields}${retry}`;
}

/** A tool's result: the API's body as text and as data, or its error. */
export function toolResult(answer: ApiAnswer): CallToolResult {
  const { data } = object.safeParse(answer.body);
  const structured = data === undefined ? {} : { structuredContent: data };
  if (!answer.ok || answer.body === undefined)
    return { isError: true, content: [{ type: "text", text: errorText(answer) }], ...structured };
  return { content: [{ type: "text", text: JSON.stringify(answer.body) }], ...structured };
}
