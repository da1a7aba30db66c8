/** SQL of requests for signed prices, and of the oracle's signers. */
import type { Sql } from "postgres";
import type { Address } from "viem";
import { lower } from "../../lib/lower.ts";
import type { AssetSymbol } from "../../lib/products.ts";
import type { PriceFailure, SignedPrice } from "./sign-price.ts";

/** Requests are kept for this long, in minutes. Nobody reads an answer after the seconds in which its caller waits. */
const KEPT_MINUTES = 60;
/** Rows of one statement, so that none holds locks for long. */
const ROUND = 2000;

/** For this long, in seconds, a request is left to other writers, whose nodes may answer, and to this writer's next round. */
const LEFT_SECONDS = 1;

export type PriceRequest = { readonly id: string; readonly asset: AssetSymbol };

/** Requests without an answer, also those that an earlier writer left. */
export const pendingRequests = (sql: Sql, chainId: number): Promise<readonly PriceRequest[]> => sql<
  PriceRequest[]
>`
  select id, asset from service.price_proof where chain_id = ${chainId} and state = 'pending' limit ${ROUND}`;

/** Answers those of the requests that no other writer has answered. That the node did not answer is no answer to new ones. */
export async function storeAnswer(
  sql: Sql,
  requests: readonly PriceRequest[],
  answer: SignedPrice | PriceFailure,
): Promise<void> {
  const signed = answer.state === "signed" ? answer : undefined;
  const failed = answer.state === "failed" ? answer : undefined;
  const ids = requests.map(({ id }) => id);
  await sql`
    update service.price_proof set state = ${answer.state}, price = ${signed ? String(signed.price) : null}::numeric,
      decimals = ${signed?.decimals ?? null}, verified_at = ${signed ? String(signed.verifiedAt) : null}::bigint,
      feed_updated_at = ${signed ? String(signed.feedUpdatedAt) : null}::bigint,
      signer = ${signed ? lower(signed.signer) : null}, signature = ${signed?.signature ?? null},
      failure_code = ${failed?.code ?? null}, failure_message = ${failed?.message ?? null}
    where id = any(${ids}::uuid[]) and state = 'pending' and (
      ${failed?.code ?? ""} <> 'chain_not_found' or created_at <= now() - make_interval(secs => ${LEFT_SECONDS}))`;
}

/** Publishes the signer for the api, and that a writer with its key lives. */
export async function noteSigner(sql: Sql, chainId: number, signer: Address): Promise<void> {
  await sql`
    insert into service.oracle_signer (chain_id, address) values (${chainId}, ${lower(signer)})
    on conflict (chain_id, address) do update set heartbeat_at = now()`;
}

/** Deletes a round of old requests, answered or not. @returns how many */
export async function pruneRequests(sql: Sql): Promise<number> {
  const { count } = await sql`
    delete from service.price_proof where id in (
      select id from service.price_proof where created_at < now() - make_interval(mins => ${KEPT_MINUTES})
      limit ${ROUND} for update skip locked)`;
  return count;
}
