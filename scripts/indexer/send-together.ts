/** How the indexer sends the statements of a live block. */

/** A client of `pg`, with what its types do not name. */
export type PipelinedClient = {
  pipeline: boolean;
  readonly connection: { readonly stream: { readonly cork: () => void; readonly uncork: () => void } };
};

/**
 * Runs `send` on a connection that nothing else uses meanwhile, and waits until all of its statements are answered. If `pipelined`, none
 * of them waits for the answer to another one, and those that are sent at once go in one packet; there may be no COPY among them.
 * Rejects with the first failure.
 */
export async function sendTogether(
  client: PipelinedClient,
  { pipelined }: { readonly pipelined: boolean },
  send: () => readonly Promise<unknown>[],
): Promise<void> {
  const { stream } = client.connection;
  client.pipeline = pipelined;
  try {
    stream.cork();
    // Drizzle sends a statement one microtask later; in a microtask, as here, the next tick comes after them all.
    process.nextTick(() => stream.uncork());
    let failure: { readonly error: unknown } | undefined;
    const note = (error: unknown) => {
      failure ??= { error };
    };
    await Promise.all(send().map((answer) => answer.catch(note)));
    if (failure) throw failure.error;
  } finally {
    client.pipeline = false;
  }
}
