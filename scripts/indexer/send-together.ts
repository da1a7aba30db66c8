/** How Ponder's cache sends the statements of a live block. */

/** A client of `pg`, with what its types do not name. */
export type PipelinedClient = {
  pipeline: boolean;
  readonly connection: { readonly stream: { readonly cork: () => void; readonly uncork: () => void } };
};

/**
 * Runs `send` on a connection that nothing else uses meanwhile. If `pipelined`, its statements are sent without waiting for answers
 * in between, and those that it sends at once go in one packet: not for a COPY. Rejects as `send` does, which must settle after
 * its last statement.
 */
export async function sendTogether(
  client: PipelinedClient,
  { pipelined }: { readonly pipelined: boolean },
  send: () => Promise<unknown>,
): Promise<void> {
  const { stream } = client.connection;
  client.pipeline = pipelined;
  try {
    stream.cork();
    const sent = send();
    stream.uncork();
    await sent;
  } finally {
    client.pipeline = false;
  }
}
