/** Calls of the demo: each is printed with its answer. */
import { Agent, type Dispatcher, fetch } from "undici";
import type { z } from "zod";

const timeoutMs = 60_000;

/** A list's first entries are enough to see its shape. */
const shortened = (_key: string, value: unknown) =>
  Array.isArray(value) && value.length > 2 ? [...value.slice(0, 2), `… and ${value.length - 2} more`] : value;

export type Call = {
  readonly method?: "GET" | "POST" | "DELETE";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Prints a success no more: it was printed before. */
  readonly quiet?: boolean;
};

export type Answer = { readonly status: number; readonly body: unknown; readonly retryAfter: number };

/** Calls an API and prints what it is asked and what it answers; `from` is the way there, the usual one without it. */
export function openApi(apiUrl: string, from?: Dispatcher) {
  /** Whatever the answer is; one without a `Retry-After` may be asked again after a second. */
  async function ask(
    path: string,
    { method = "GET", headers = {}, body, quiet }: Call = {},
  ): Promise<Answer> {
    const response = await fetch(`${apiUrl}${path}`, {
      method,
      headers: body === undefined ? headers : { ...headers, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(from ? { dispatcher: from } : {}),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const answer: unknown = await response.json();
    if (!quiet || !response.ok) {
      console.log(`\n→ ${method} ${path}${body === undefined ? "" : ` ${JSON.stringify(body)}`}`);
      console.log(`← ${response.status} ${JSON.stringify(answer, shortened, 2)}`);
    }
    return {
      status: response.status,
      body: answer,
      retryAfter: Number(response.headers.get("retry-after") ?? 1),
    };
  }

  return {
    ask,
    /** @throws when the answer is no success of this shape. */
    async call<T>(path: string, shape: z.ZodType<T>, call: Call = {}): Promise<T> {
      const { status, body } = await ask(path, call);
      if (status >= 300) throw new Error(`${call.method ?? "GET"} ${path} was answered with ${status}`);
      return shape.parse(body);
    },
  };
}

export type Api = ReturnType<typeof openApi>;

const digit = () => 2 + Math.floor(Math.random() * 250);

/**
 * The same API, called from an address of this machine that nobody else has used, so that what an address may do is not
 * used up; from the usual one where the machine has no such address, or the API is somewhere else.
 */
export async function openApiFromElsewhere(apiUrl: string): Promise<Api> {
  if (new URL(apiUrl).hostname !== "127.0.0.1") return openApi(apiUrl);
  const localAddress = `127.${digit()}.${digit()}.${digit()}`;
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
  console.log(`\nWhat follows comes from ${localAddress}, so that your own address keeps what it may have.`);
  return openApi(apiUrl, agent);
}
