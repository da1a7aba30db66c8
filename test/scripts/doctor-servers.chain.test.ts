/** `npm run doctor` against a real Postgres and Redis. What this proves: each fault of theirs that is made is named with its remedy. */
import { Redis } from "ioredis";
import postgres from "postgres";
import { beforeAll, describe, expect, test } from "vitest";
import { prepareOwnerLogin } from "../../lib/db/login-settings.ts";
import { createSealer } from "../../lib/webhooks/secrets.ts";
import type { Finding } from "../../scripts/doctor/finding.ts";
import type { ProcessName } from "../../scripts/doctor/settings.ts";
import { freePort } from "../../scripts/local/ports.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { atEnd } from "../support/cleanup.ts";
import { startOwnPostgres } from "../support/own-postgres.ts";
import { describeWithRedis, freshRedis } from "../support/redis.ts";
import {
  addressOf,
  type Examined,
  expectFault,
  faultsOf,
  nowhere,
  SAFE,
  SECRETS_KEY,
  startGoodEnvironment,
  warningsOf,
} from "./support/doctor.ts";

let doctor: Examined;
beforeAll(async () => {
  doctor = await startGoodEnvironment();
});

describe("Postgres", () => {
  let sql: postgres.Sql;
  beforeAll(() => {
    sql = postgres(doctor.databaseUrl, { max: 1, onnotice: () => {} });
    atEnd(() => sql.end());
  });

  /** The findings while this database has another setting. */
  async function withSetting(name: string, value: string): Promise<Finding[]> {
    await sql.unsafe(`alter database cover set ${name} = ${value}`);
    const findings = await doctor.examine();
    await sql.unsafe(`alter database cover reset ${name}`);
    return findings;
  }

  test("a server that is away, or a login that it refuses", async () => {
    const away = `${await nowhere("postgres")}/cover`;
    expectFault(await doctor.examine({ DATABASE_URL: away }), "Postgres", /cannot be used/, /start Postgres/);
    const unknown = new URL(doctor.databaseUrl);
    unknown.pathname = "/none";
    expectFault(await doctor.examine({ DATABASE_URL: unknown.href }), "Postgres", /"none"/, /DATABASE_URL/);
  });

  test("settings with which a crash loses purchases", async () => {
    expectFault(await withSetting("synchronous_commit", "off"), "Postgres", /synchronous_commit/, /= on/);
    expectFault(await withSetting("default_transaction_read_only", "on"), "Postgres", /may only read/, /off/);
    for (const setting of ["fsync", "full_page_writes", "autovacuum"]) {
      const set = async (value: string) => {
        await sql.unsafe(`alter system set ${setting} = ${value}`);
        await sql`select pg_reload_conf()`;
        await waitFor({
          what: `${setting} to be ${value}`,
          probe: async () => {
            const [row] = await sql.unsafe<{ now: string }[]>(`select current_setting('${setting}') as now`);
            return row?.now === value || undefined;
          },
        });
      };
      await set("off");
      const findings = await doctor.examine();
      await set("on");
      expectFault(findings, "Postgres", new RegExp(`${setting} is off`), new RegExp(`${setting} = on`));
    }
  });

  test("too few sessions for the processes", async () => {
    await sql`alter database cover connection limit 20`;
    const limited = await doctor.examine();
    await sql`alter database cover connection limit -1`;
    expectFault(
      limited,
      "Postgres",
      /open 55 sessions at most, and the database allows 20/,
      /CONNECTION LIMIT/,
    );
    const small = await startOwnPostgres("cover", { ...SAFE, max_connections: 40 });
    const findings = await doctor.examine({ DATABASE_URL: small.databaseUrl });
    expectFault(findings, "Postgres", /and the server allows 37/, /max_connections/);
  });

  test("logins that may not do what their process needs", async () => {
    await sql`create role weak login`;
    await sql`create database owned`;
    const url = new URL(doctor.databaseUrl);
    url.username = "weak";
    const weak = (processes: readonly ProcessName[]) => doctor.examine({ DATABASE_URL: url.href }, processes);
    const missing = faultsOf(await weak(["writer", "indexer"])).join("\n");
    expect(missing).toMatch(/weak may not create schemas.*GRANT CREATE/);
    expect(missing).toMatch(/cover_api is missing.*CREATE ROLE cover_api NOLOGIN/);
    expectFault(await weak(["api"]), "Postgres", /cover_api is missing/, /start a writer/);
    await sql`create role cover_api nologin`;
    await sql`grant create on database cover to weak`;
    expectFault(await weak(["api"]), "Postgres", /may not take on the role/, /GRANT cover_api TO weak/);
    expect(faultsOf(await weak(["writer"]))).toEqual([]);
    await sql`create schema service`;
    expectFault(
      await weak(["writer"]),
      "Postgres",
      /schema service belongs to postgres/,
      /log in as postgres/,
    );
    await sql`grant cover_api to weak`;
    expect(faultsOf(await weak(["api"]))).toEqual([]);
    expect(warningsOf(await doctor.examine({}, ["api"])).join()).toContain("may do more than the role");
  });

  test("sessions that lack their login's settings", async () => {
    await sql`create schema if not exists service`;
    expect(warningsOf(await doctor.examine()).join()).toContain('search_path is ""$user", public"');
    await prepareOwnerLogin(doctor.databaseUrl);
    expect(warningsOf(await doctor.examine()).join()).not.toContain("search_path");
    const DATABASE_URL = `${doctor.databaseUrl}?options=-c%20DateStyle%3DGerman`;
    expectFault(
      await doctor.examine({ DATABASE_URL }),
      "Postgres",
      /DateStyle is "German, DMY"/,
      /RECONNECT/,
    );
  });

  test("a database that cannot hold every text", async () => {
    await sql`create database latin encoding 'LATIN1' template template0`;
    const url = new URL(doctor.databaseUrl);
    url.pathname = "/latin";
    expectFault(await doctor.examine({ DATABASE_URL: url.href }), "Postgres", /encoding is LATIN1/, /UTF8/);
  });

  test("a SECRETS_KEY that does not open the stored secrets", async () => {
    await sql`create schema if not exists service`;
    await sql`create table service.webhook (
      id bigserial, wallet text, secret text, previous_secret text, previous_secret_until timestamptz)`;
    const wallet = addressOf(doctor.relayer).toLowerCase();
    const store = (key: string) =>
      sql`insert into service.webhook (wallet, secret) values (${wallet}, ${createSealer(key).seal("s", wallet)})`;
    await store(SECRETS_KEY);
    expect(faultsOf(await doctor.examine())).toEqual([]);
    const previous = SECRETS_KEY.replaceAll("f", "e");
    await store(previous);
    const findings = await doctor.examine();
    const rotating = await doctor.examine({ SECRETS_KEY_PREVIOUS: previous });
    await sql`drop table service.webhook`;
    expectFault(findings, "secrets", /does not open the stored secrets of 1 of 2/, /set the key/);
    expect(faultsOf(rotating)).toEqual([]);
    expect(warningsOf(rotating).join()).toContain(
      "only SECRETS_KEY_PREVIOUS opens the stored secrets of 1 of 2",
    );
  });
});

describeWithRedis("Redis", () => {
  test("a server that is away, evicts keys, is full, or takes no writes", async () => {
    const away = { REDIS_URL: await nowhere("redis") };
    expectFault(await doctor.examine(away), "Redis", /cannot be used/, /start Redis/);
    const { url } = await freshRedis();
    const redis = new Redis(url);
    atEnd(async () => redis.disconnect());
    const found = () => doctor.examine({ REDIS_URL: url });
    expect(faultsOf(await found())).toEqual([]);
    await redis.config("SET", "maxmemory-policy", "allkeys-lru");
    expectFault(await found(), "Redis", /maxmemory-policy is allkeys-lru/, /noeviction/);
    await redis.config("SET", "maxmemory-policy", "noeviction");
    await redis.config("SET", "maxmemory", "1mb");
    expectFault(await found(), "Redis", /bytes/, /raise maxmemory/);
    await redis.config("SET", "maxmemory", "0");
    await redis.replicaof("127.0.0.1", await freePort());
    expectFault(await found(), "Redis", /a replica/, /primary/);
  });
});
