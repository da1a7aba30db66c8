import type { Sql } from "postgres";
import { type Address, getAddress, type Hex } from "viem";
import { FORGOTTEN_SECONDS, HEARTBEAT_SECONDS } from "../../lib/ledger/relayers.ts";
import type { AssetSymbol } from "../../lib/products.ts";

/** A request for a signed price. `price` has `decimals` decimals; times are Unix seconds. */
export type PriceProof = { readonly id: string; readonly asset: AssetSymbol } & (
  | { readonly state: "pending" }
  | {
      readonly state: "signed";
      readonly price: string;
      readonly decimals: number;
      readonly verifiedAt: number;
      readonly feedUpdatedAt: number;
      readonly signer: Address;
      readonly signature: Hex;
    }
  | {
      readonly state: "failed";
      readonly code: "chain_not_found" | "oracle_stale" | "sequencer_down";
      readonly message: string;
    }
);

/** Records a request, which wakes the writers. @returns its id */
export async function requestProof(sql: Sql, chainId: number, asset: AssetSymbol): Promise<string> {
  const [row] = await sql<{ id: string }[]>`
    insert into service.price_proof (chain_id, asset) values (${chainId}, ${asset}) returning id`;
  if (!row) throw new Error("the request was not recorded");
  return row.id;
}

/** The requests with these ids. Where a field is null by the row's state, the union has no such field. */
export async function readProofs(sql: Sql, ids: readonly string[]): Promise<readonly PriceProof[]> {
  return sql<PriceProof[]>`
    select id, asset, state, price::text, decimals, verified_at::float8 as "verifiedAt",
      feed_updated_at::float8 as "feedUpdatedAt", signer, signature, failure_code as code, failure_message as message
    from service.price_proof where id = any(${[...ids]}::uuid[])`;
}

/** A signer of prices; `alive`: a writer with its key runs. */
export type OracleSigner = { readonly address: Address; readonly alive: boolean };

/** The signer with the latest heartbeat; undefined when none had one within the last hour. */
export async function readSigner(sql: Sql, chainId: number): Promise<OracleSigner | undefined> {
  const [row] = await sql<OracleSigner[]>`
    select address, heartbeat_at > now() - make_interval(secs => ${HEARTBEAT_SECONDS}) as alive
    from service.oracle_signer
    where chain_id = ${chainId} and heartbeat_at > now() - make_interval(secs => ${FORGOTTEN_SECONDS})
    order by heartbeat_at desc limit 1`;
  return row && { ...row, address: getAddress(row.address) };
}
