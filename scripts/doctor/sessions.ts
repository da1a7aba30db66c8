/** How many sessions of Postgres a process opens at most, as docs/operating.md states it and each process logs it at its start. */
import { hasKeeper, hasOracle } from "../../workers/common/wallet-keys.ts";
import type { ProcessName, Settings } from "./settings.ts";

const BASE: Readonly<Record<ProcessName, number>> = { indexer: 14, api: 17, writer: 23 };
const TESTNET = { api: 2, writer: 5 } as const;
/** For the comparisons with a standby. */
const STANDBY = 1;
const ORACLE = 2;
const KEEPER = 1;
/** With Redis the queues need no sessions, except for those that a testnet adds. */
const QUEUES = { api: 3, writer: 8 } as const;

export function sessionsOf(name: ProcessName, { api, writer }: Settings): number {
  switch (name) {
    case "indexer":
      return BASE.indexer;
    case "api":
      return (
        BASE.api +
        (api?.TESTNET_RPC_URL === undefined ? 0 : TESTNET.api) +
        (api?.DATABASE_READ_URL === undefined ? 0 : STANDBY) -
        (api?.REDIS_URL === undefined ? 0 : QUEUES.api)
      );
    case "writer":
      return (
        BASE.writer +
        (writer?.TESTNET_RPC_URL === undefined ? 0 : TESTNET.writer) +
        (writer && hasOracle(writer) ? ORACLE : 0) +
        (writer && hasKeeper(writer) ? KEEPER : 0) -
        (writer?.REDIS_URL === undefined ? 0 : QUEUES.writer)
      );
  }
}
