import type { DevConfig } from "../../lib/config.ts";
import { ConfigError } from "../../lib/config-error.ts";
import { isPortFree } from "../local/ports.ts";

/** @throws {ConfigError} with a fault for each port that is taken or configured twice. */
export async function requireFreePorts(config: DevConfig): Promise<void> {
  const ports: [string, number][] = [
    ["PORT", config.PORT],
    ["ANVIL_PORT", config.ANVIL_PORT],
    ["TESTNET_ANVIL_PORT", config.TESTNET_ANVIL_PORT],
    ["PONDER_PORT", config.PONDER_PORT],
    ["METRICS_PORT", config.METRICS_PORT],
    ["API_METRICS_PORT", config.API_METRICS_PORT],
    ...(config.DATABASE_URL === undefined
      ? [["POSTGRES_PORT", config.POSTGRES_PORT] as [string, number]]
      : []),
  ];
  const faults: string[] = [];
  const seen = new Map<number, string>();
  for (const [name, port] of ports) {
    const other = seen.get(port);
    seen.set(port, name);
    if (other) faults.push(`${name} and ${other} are both ${port}`);
    else if (!(await isPortFree(port))) {
      faults.push(
        `${name} ${port} is taken by another process: stop that process, or set ${name} to a free port`,
      );
    }
  }
  if (faults.length > 0) throw new ConfigError(faults);
}
