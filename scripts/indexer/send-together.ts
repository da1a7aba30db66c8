/** How Ponder's cache sends the statements of a live block. */

/** A client of `pg`, with what its types do not name. */
export type PipelinedClient = {
  pipeline: boolean;
  readonly connection: { readonly stream: { readonly cork: () => void; readonly uncork: () => void } };
};

/**
 * Runs `send` on a connection that nothing else uses meanwhile. `send` may settle only once all of its statements are answered.
 * If `pipelined`, none waits for the answer to another one, and those that are sent at once go in one packet; there may be no COPY
 * among them. Rejects as `send` does.
 */
export async function sendTogether(
  client: PipelinedClient,
  { pipelined }: { readonly pipelined: boolean },
  send: () => Promise<unknown>,
): Promise<void> {
  client.pipeline = pipelined;
  try {
    await inOnePacket(client, send);
  } finally {
    client.pipeline = false;
  }
}

function inOnePacket<T>({ connection: { stream } }: PipelinedClient, send: () => T): T {
  stream.cork();
  try {
    return send();
  } finally {
    stream.uncork();
  }
}
