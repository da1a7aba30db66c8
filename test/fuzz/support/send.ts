/** Sends requests byte for byte as planned: `fetch` would normalise addresses, and refuse some methods and headers. */
import { Agent, request } from "node:http";
import type { HttpAnswer } from "../../support/http.ts";
import type { Credential, Pairs, Planned } from "./requests.ts";

export type Sent = {
  readonly planned: Planned;
  readonly answer: HttpAnswer;
  /** Time to the end of the answer, in ms. */
  readonly ms: number;
};

/** Sends one request, and rejects when the connection fails. */
export type Send = (planned: Planned) => Promise<Sent>;

/** Longer than any wait of the service, in ms. */
const TIMEOUT_MS = 180_000;
/** The server closes a connection with a body that it will not read; a client may see the reset before the answer. */
const TRIES_OF_LARGE_BODY = 5;
const LARGE = 64 * 1024;

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
const short = (text: string) =>
  text.length <= 1500 ? text : `${text.slice(0, 200)}…(${text.length} characters)`;

/** The request as a curl command, with the name of its credential. */
export function asCurl(apiUrl: string, { method, target, headers, credential, body }: Planned): string {
  return [
    `curl -i --path-as-is -X ${method} ${quoted(short(apiUrl + target))}`,
    ...headers.map(([name, value]) => `-H ${quoted(`${name}: ${short(value)}`)}`),
    ...(credential === "none" ? [] : [`-H '(${credential})'`]),
    ...(body === undefined ? [] : [`--data-binary ${quoted(short(body))}`]),
  ].join(" ");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function sendOnce(
  url: URL,
  { method, target, body }: Planned,
  headers: Pairs,
  agent: Agent,
): Promise<HttpAnswer> {
  const length: Pairs = body === undefined ? [] : [["Content-Length", String(Buffer.byteLength(body))]];
  const lines = [["Host", url.host] as const, ...headers, ...length].flat();
  const { hostname: host, port } = url;
  return new Promise((resolve, reject) => {
    const options = { agent, host, port, method, path: target, headers: lines, timeout: TIMEOUT_MS };
    const outgoing = request(options, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.once("error", reject);
      incoming.once("end", () => {
        const received = Object.entries(incoming.headersDistinct).flatMap(([name, values = []]) =>
          values.map((value): [string, string] => [name, value]),
        );
        const text = Buffer.concat(chunks).toString();
        const status = incoming.statusCode ?? 0;
        resolve({ status, headers: new Headers(received), text, json: parsed(text) });
      });
    });
    outgoing.once("timeout", () => outgoing.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)));
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

/** Opens the sender. `secrets` has the headers of each credential. */
export function createSender(apiUrl: string, secrets: ReadonlyMap<Credential, Pairs>) {
  const agent = new Agent({ keepAlive: true });
  const url = new URL(apiUrl);
  const send: Send = async (planned) => {
    const headers = [...(secrets.get(planned.credential) ?? []), ...planned.headers];
    const tries = (planned.body?.length ?? 0) > LARGE ? TRIES_OF_LARGE_BODY : 1;
    for (let tried = 1; ; tried += 1) {
      const begun = performance.now();
      try {
        const answer = await sendOnce(url, planned, headers, agent);
        return { planned, answer, ms: performance.now() - begun };
      } catch (error) {
        if (tried === tries) throw new Error(`no answer to ${asCurl(apiUrl, planned)}`, { cause: error });
      }
    }
  };
  return { send, close: () => agent.destroy() };
}
