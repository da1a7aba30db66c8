/** Bad environment variables; the message holds one line for each of them. */
export class ConfigError extends Error {
  override name = "ConfigError";
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(
      `The configuration has ${faults.length === 1 ? "a fault" : "faults"}:\n${faults.map((f) => `  ${f}`).join("\n")}`,
    );
    this.faults = faults;
  }
}
