/** A read that is repeated for as long as somebody looks at it. */
import type { Client } from "./client.ts";
import type { AnswerHead } from "./exchange.ts";
import type { BodyOf, Operation, PathWith, RequestArgument } from "./operations.ts";

/** The newest body, whether this read has changed it, and the block at which it is true. */
export type PolledAnswer<Body> = AnswerHead & { readonly body: Body; readonly changed: boolean };

/**
 * Creates a read to be called again and again. Each call after the first asks only whether the answer has changed, so a quiet
 * chain costs a few hundred bytes; the body stays the same object until it does.
 * @throws what `client.revalidate` throws; the next call starts from the last answer
 * @example
 * const readCover = createPolledRead(client, "/api/v1/stats/cover");
 * const { body, changed, indexedBlock } = await readCover();
 */
export function createPolledRead<P extends PathWith<"get">>(
  client: Client,
  path: P,
  ...request: RequestArgument<Operation<"get", P>>
): () => Promise<PolledAnswer<BodyOf<Operation<"get", P>>>> {
  let last: { readonly tag: string | undefined; readonly body: BodyOf<Operation<"get", P>> } | undefined;
  return async () => {
    const answer = await client.revalidate(path, last?.tag, ...request);
    if (answer.changed) last = { tag: answer.tag, body: answer.body };
    // A 304 is sent only for a tag, and a tag is known only of an answer.
    if (!last) throw new Error("the API says that nothing has changed, but it was asked without a tag");
    return { ...answer, body: last.body };
  };
}
