/** Checks the Redis of queues and limits. */
import { Redis } from "ioredis";
import { errorText } from "../../lib/log.ts";
import { type Finding, findingsOf } from "./finding.ts";
import { isThisMachine } from "./secrets.ts";

/** How long the server may take, in ms. */
const TIMEOUT_MS = 3000;
/** The oldest version that BullMQ supports with all of its commands. */
const OLDEST = [6, 2] as const;
/** A server that holds this share of its memory is nearly full. */
const NEARLY_FULL = 0.9;

const { ok, warning, fault } = findingsOf("Redis");

/** The fields of the answer to INFO. */
export function fieldsOf(info: string): ReadonlyMap<string, string> {
  const pairs = info.split(/\r?\n/).map((line) => line.split(":", 2));
  return new Map(pairs.flatMap(([name, value]) => (name && value !== undefined ? [[name, value]] : [])));
}

function isOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
}

/** What a server says of itself. */
export function examineInfo(fields: ReadonlyMap<string, string>): Finding[] {
  const findings: Finding[] = [];
  const version = fields.get("redis_version") ?? "0";
  if (isOld(version)) {
    findings.push(fault(`Redis ${version} is too old`, `install Redis ${OLDEST.join(".")} or newer`));
  }
  if (fields.get("role") === "slave") {
    findings.push(fault("REDIS_URL leads to a replica, which takes no writes", "set the URL of its primary"));
  }
  const policy = fields.get("maxmemory_policy");
  if (policy !== undefined && policy !== "noeviction") {
    const text = `maxmemory-policy is ${policy}: a full server would drop jobs and counts`;
    findings.push(fault(text, "set `maxmemory-policy noeviction` in redis.conf, and restart Redis"));
  }
  const [used, most] = [Number(fields.get("used_memory")), Number(fields.get("maxmemory"))];
  if (most > 0 && used > NEARLY_FULL * most) {
    findings.push(
      fault(
        `Redis uses ${used} of ${most} bytes`,
        "raise maxmemory, or give the service a server of its own",
      ),
    );
  }
  return findings.length > 0 ? findings : [ok(`Redis ${version} keeps every key`)];
}

/** Never rejects. */
export async function examineRedis(url: string): Promise<Finding[]> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: TIMEOUT_MS,
    commandTimeout: TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  redis.on("error", () => {}); // the command that fails has it too
  try {
    await redis.connect();
    const findings = examineInfo(fieldsOf(await redis.info()));
    const { protocol, hostname } = new URL(url);
    if (protocol !== "rediss:" && !isThisMachine(hostname)) {
      findings.push(
        warning(
          "the connection to Redis is not encrypted",
          "use rediss://, or a network that nobody else is in",
        ),
      );
    }
    return findings;
  } catch (error) {
    return [
      fault(
        `Redis cannot be used: ${errorText(error)}`,
        "start Redis, or correct REDIS_URL; without it Postgres serves",
      ),
    ];
  } finally {
    redis.disconnect();
  }
}
