/** An invalid command line; the message has the fault and the usage. */
export class UsageError extends Error {
  override name = "UsageError";
}
