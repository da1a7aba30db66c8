import { parseArgs } from "node:util";
import { type Address, type Hex, isAddress, isHash } from "viem";
import type { StopTarget } from "../../lib/ledger/stops.ts";
import { lower } from "../../lib/lower.ts";
import { isOneLine } from "../../lib/one-line.ts";
import { UsageError } from "../usage-error.ts";

/** A parsed command line; `older` in seconds. */
export type LedgerCommand =
  | { do: "help" }
  | { do: "report"; older: number }
  | { do: "show"; id: string }
  | { do: "stop"; target: StopTarget; reason: string }
  | { do: "resume"; target: StopTarget }
  /** `accept` has the hashes of unknown transactions that are not the service's, in lower case and without duplicates. */
  | { do: "reconcile"; accept: Hex[] }
  | { do: "give-up"; wallet: Address };

export const usage = `npm run ledger                                             transactions in flight, stuck ones, spending, stops
npm run ledger -- --older 30                               entries older than 30 seconds count as stuck (default 60)
npm run ledger -- show <id>                                everything about a purchase, a service transaction or a claim
npm run ledger -- stop global --reason "…"                 no purchase is accepted, no transaction signed or sent
npm run ledger -- stop keeper --reason "…"                 the keeper triggers and closes no policies; a global stop does that too
npm run ledger -- stop wallet <address> --reason "…"       the same for a wallet of the service, or for a client wallet's keys
npm run ledger -- stop key <id> --reason "…"               the same for one key
npm run ledger -- resume global|keeper|wallet <address>|key <id>   lifts a stop
npm run ledger -- reconcile                                what chain and ledger lack of each other; records what is certain
npm run ledger -- reconcile --accept <hash>                takes an unknown transaction for another program's, and goes on;
                                                           --accept may be repeated
npm run ledger -- give-up <address>                        closes those open transactions of a wallet without its key whose
                                                           outcome is certain`;

const DEFAULT_OLDER = 60;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const fault = (text: string) => new UsageError(`${text}\n\n${usage}`);

function walletOf(verb: string, [address, ...rest]: readonly string[]): Address {
  if (address === undefined || !isAddress(address, { strict: false })) {
    throw fault(`${verb} ${address ?? ""}: must be followed by an address, 0x and 40 hex digits`);
  }
  if (rest.length > 0) throw fault(`unexpected argument ${rest.join(" ")}`);
  return lower(address);
}

function targetOf([scope, subject, ...rest]: readonly string[]): StopTarget {
  if (rest.length > 0) throw fault(`unexpected argument ${rest.join(" ")}`);
  switch (scope) {
    case "global":
    case "keeper":
      if (subject !== undefined) throw fault(`unexpected argument ${subject} after ${scope}`);
      return { scope };
    case "wallet":
      return { scope, wallet: walletOf("wallet", subject === undefined ? [] : [subject]) };
    case "key":
      if (subject === undefined || !/^[1-9]\d{0,14}$/.test(subject)) {
        throw fault(`key ${subject ?? ""}: must be followed by the id of a key, a whole number`);
      }
      return { scope, keyId: Number(subject) };
    default:
      throw fault(`${scope ?? "nothing"}: must be global, keeper, wallet or key`);
  }
}

function acceptedHashes(rest: readonly string[], accept: readonly string[]): Hex[] {
  if (rest.length > 0) throw fault(`unexpected argument ${rest.join(" ")}`);
  const hashes = accept.map((hash) => {
    if (!isHash(hash))
      throw fault(`--accept ${hash}: must be the hash of a transaction, 0x and 64 hex digits`);
    return lower(hash);
  });
  return [...new Set(hashes)];
}

/** Parses the command line. @throws {UsageError} when it is invalid. */
export function parseLedgerArguments(argv: readonly string[]): LedgerCommand {
  let values: {
    reason?: string | undefined;
    accept?: string[] | undefined;
    older?: string | undefined;
    help?: boolean | undefined;
  };
  let positionals: string[];
  try {
    const options = {
      reason: { type: "string" },
      accept: { type: "string", multiple: true },
      older: { type: "string" },
      help: { type: "boolean", short: "h" },
    } as const;
    ({ values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true }));
  } catch (error) {
    throw fault(error instanceof Error ? error.message : String(error));
  }
  const { reason, older, accept } = values;
  if (values.help) return { do: "help" };
  const [verb, ...rest] = positionals;
  if (reason !== undefined && verb !== "stop") throw fault("--reason: only stop takes it");
  if (older !== undefined && verb !== undefined) throw fault(`--older: ${verb} does not take it`);
  if (accept !== undefined && verb !== "reconcile") throw fault("--accept: only reconcile takes it");
  switch (verb) {
    case undefined:
      if (older !== undefined && !/^\d{1,9}$/.test(older))
        throw fault(`--older ${older}: must be a number of seconds`);
      return { do: "report", older: older === undefined ? DEFAULT_OLDER : Number(older) };
    case "show": {
      const [id, ...more] = rest;
      if (id === undefined || !UUID.test(id))
        throw fault(
          `show ${id ?? ""}: must be the id of a purchase, a service transaction or a claim, a UUID`,
        );
      if (more.length > 0) throw fault(`unexpected argument ${more.join(" ")}`);
      return { do: "show", id: id.toLowerCase() };
    }
    case "stop": {
      const target = targetOf(rest);
      if (!reason?.trim()) throw fault('stop: needs a --reason "…" for the next operator');
      if (!isOneLine(reason)) throw fault("--reason: must be one line of plain text");
      return { do: "stop", target, reason: reason.trim() };
    }
    case "resume":
      return { do: "resume", target: targetOf(rest) };
    case "give-up":
      return { do: "give-up", wallet: walletOf("give-up", rest) };
    case "reconcile":
      return { do: "reconcile", accept: acceptedHashes(rest, accept ?? []) };
    default:
      throw fault(`${verb}: unknown command`);
  }
}
