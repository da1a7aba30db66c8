import { parseArgs } from "node:util";
import { type Address, isAddress } from "viem";
import { z } from "zod";
import type { Downtime } from "../../workers/keeper/audit/replay.ts";
import { UsageError } from "../usage-error.ts";

/** A block by its number, or by a time in Unix seconds. */
export type Position = { readonly block: bigint } | { readonly time: bigint };

/** A parsed command line. Without `from` the audit begins with the deployment, without `to` it ends with the newest block. */
export type KeeperCommand =
  | { readonly do: "help" }
  | {
      readonly do: "audit";
      readonly from: Position | undefined;
      readonly to: Position | undefined;
      readonly downtime: readonly Downtime[];
      readonly wallets: readonly Address[];
      readonly json: boolean;
    };

export const usage = `npm run keeper -- audit                       every policy that could have been paid and was not, from the chain alone
npm run keeper -- audit --from 1200 --to 5000 policies that ended in these blocks; both ends are included
npm run keeper -- audit --from 2026-01-01     the same by times (ISO 8601; a time of day needs Z or an offset)
npm run keeper -- audit --down 2026-01-01T10:00Z..2026-01-01T11:30Z
                                              counts apart what was missed in this downtime of the service; repeatable
npm run keeper -- audit --keeper 0x…          a reset by this wallet of the keeper excuses nothing; repeatable
npm run keeper -- audit --json                one JSON document

It ends with code 1 if something was missed outside of stated downtime, and with code 2 if it could not audit.`;

const fault = (text: string) => new UsageError(`${text}\n\n${usage}`);

const isoDate = z.iso.date();
const isoTime = z.iso.datetime({ offset: true });

/** A time in Unix seconds, rounded down; undefined when the text is none. */
function timeOf(text: string): bigint | undefined {
  // zod wants seconds, people leave them out.
  const full = text.replace(/^([^T]+T\d{2}:\d{2})(?=Z|[+-])/, "$1:00");
  if (!isoDate.safeParse(text).success && !isoTime.safeParse(full).success) return undefined;
  return BigInt(Math.floor(Date.parse(full) / 1000));
}

function positionOf(option: string, text: string | undefined): Position | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return { block: BigInt(text) };
  const time = timeOf(text);
  if (time === undefined)
    throw fault(`${option} ${text}: must be the number of a block, or a time such as 2026-01-01T10:00:00Z`);
  return { time };
}

function downtimeOf(text: string): Downtime {
  const [from, to, ...rest] = text.split("..").map(timeOf);
  if (from === undefined || to === undefined || rest.length > 0)
    throw fault(`--down ${text}: must be two times such as 2026-01-01T10:00:00Z..2026-01-01T11:30:00Z`);
  if (from > to) throw fault(`--down ${text}: ends before it begins`);
  return { from, to };
}

function walletOf(text: string): Address {
  if (!isAddress(text)) throw fault(`--keeper ${text}: must be an address`);
  return text;
}

/** Parses the command line. @throws {UsageError} when it is invalid. */
export function parseKeeperArguments(argv: readonly string[]): KeeperCommand {
  const options = {
    from: { type: "string" },
    to: { type: "string" },
    down: { type: "string", multiple: true },
    keeper: { type: "string", multiple: true },
    json: { type: "boolean" },
    help: { type: "boolean", short: "h" },
  } as const;
  const parse = () => parseArgs({ args: [...argv], options, allowPositionals: true });
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse();
  } catch (error) {
    throw fault(error instanceof Error ? error.message : String(error));
  }
  const { values, positionals } = parsed;
  if (values.help) return { do: "help" };
  const [verb, ...rest] = positionals;
  if (verb !== "audit") throw fault(`${verb ?? "nothing"}: unknown command`);
  if (rest.length > 0) throw fault(`unexpected argument ${rest.join(" ")}`);
  return {
    do: "audit",
    from: positionOf("--from", values.from),
    to: positionOf("--to", values.to),
    downtime: (values.down ?? []).map(downtimeOf),
    wallets: (values.keeper ?? []).map(walletOf),
    json: values.json ?? false,
  };
}
