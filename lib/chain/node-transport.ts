/** The transport of our requests to a node (Ponder has its own): each call gets its own answer within its time limit, or an error. */
import {
  HttpRequestError,
  type HttpTransport,
  type HttpTransportConfig,
  http,
  ResponseBodyTooLargeError,
} from "viem";
import { z } from "zod";
import { limitsRequests } from "./rate-limit.ts";

/** The largest body of an answer; viem's own default. */
const MAX_BYTES = 10 * 1024 * 1024;

type FetchFn = NonNullable<HttpTransportConfig["fetchFn"]>;

const hasId = z.object({ id: z.number() });
const requestSchema = z.union([hasId, z.array(hasId)]);
/** An error that names no call. */
const errorWithoutId = z.object({ id: z.null().optional(), error: z.object({ code: z.number() }) });

const idOf = (answer: unknown): unknown =>
  typeof answer === "object" && answer !== null && "id" in answer ? answer.id : undefined;

const isErrorWithoutId = (answer: unknown): boolean => errorWithoutId.safeParse(answer).success;

/** Whether the answers have exactly the ids of the calls, in any order. */
function answersEach(calls: readonly { id: number }[], answers: unknown): boolean {
  if (!Array.isArray(answers) || answers.length !== calls.length) return false;
  const answered = new Set<unknown>(answers.map(idOf));
  return calls.every(({ id }) => answered.has(id));
}

/** @throws without the text, which an error of V8 would quote */
function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new Error("the node's answer is not JSON");
  }
}

/** Whether an error without an id says that the node limits the rate of requests. */
const isLimited = (answer: unknown): boolean =>
  [answer].flat().some((one) => limitsRequests(errorWithoutId.safeParse(one).data?.error.code));

/** @throws ResponseBodyTooLargeError, and the signal's reason when the request is aborted meanwhile */
async function bodyOf(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let size = 0;
  // `for await` would take 70 µs more of CPU for each answer.
  const reader = response.body?.getReader();
  for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
    size += part.value.byteLength;
    if (size > MAX_BYTES) {
      await reader?.cancel();
      throw new ResponseBodyTooLargeError({ maxSize: MAX_BYTES, size });
    }
    parts.push(part.value);
  }
  return Buffer.concat(parts);
}

const httpError = ({ url, headers }: Response, status: number, details: string) =>
  new HttpRequestError({ url, headers, status, details });

/**
 * Leaves the status of a request with one call to viem.
 * @throws unless each call has its own answer; without the node's text, because "already known" of one transaction would count
 *   for all of the batch
 */
function requireAnswers(request: z.output<typeof requestSchema>, response: Response, body: string): void {
  if (!response.ok) {
    if (!Array.isArray(request)) return;
    // viem would take an error object for the answers of a batch, and lose the status.
    throw httpError(response, response.status, `HTTP status ${response.status}`);
  }
  const answer = parsed(body);
  const fits = Array.isArray(request)
    ? answersEach(request, answer)
    : idOf(answer) === request.id || isErrorWithoutId(answer);
  if (fits) return;
  if (isLimited(answer)) throw httpError(response, 429, "the node limits the rate of requests");
  throw new Error("the node did not answer each call of the request once");
}

/**
 * Reads the body here because viem's time limit ends at the headers otherwise. Checks the ids because viem only sorts by them:
 * if one answer of a batch were missing, calls would get the answers of others.
 */
const fetchWholeAnswer: FetchFn = async (input, init) => {
  const response = await fetch(input, init);
  const body = await bodyOf(response);
  const request = requestSchema.parse(JSON.parse(String(init?.body)));
  requireAnswers(request, response, new TextDecoder().decode(body));
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers });
};

/** The number of transports so far. */
let transports = 0;

/**
 * viem's `http` transport for a node. `timeout`, in ms, is for the whole answer. A batch is rejected as a whole, with a
 * transport error, unless each of its calls has one answer.
 */
export function nodeTransport(
  url: string,
  options: Pick<HttpTransportConfig, "timeout" | "retryCount" | "retryDelay" | "batch"> = {},
): HttpTransport {
  const own = new URL(url);
  transports += 1;
  // Never sent. viem would share a batch among all transports of one address, with the time limit of the one that called first.
  own.hash = String(transports);
  return http(own.href, { ...options, fetchFn: fetchWholeAnswer, maxResponseBodySize: false });
}
