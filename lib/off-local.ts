/** What holds only off local chains: secrets are not public and not trivial, and the service knows its own address. */
import { ConfigError } from "./config-error.ts";
import { readDeployment } from "./deployments.ts";
import type { Fault, Variables } from "./testnet-variables.ts";

/** The dev stack's admin token; refused on any chain that is not local. */
export const DEV_ADMIN_TOKEN = "dev-admin-token";

/** The dev stack's key for secrets at rest; refused on any chain that is not local. */
export const DEV_SECRETS_KEY = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/** Characters of an admin token: 32 random hex digits have 128 bits. */
const MIN_TOKEN_LENGTH = 32;
/** Different characters of an admin token: 32 random hex digits have fewer once in a million million. */
const MIN_TOKEN_CHARACTERS = 6;
/** Different bytes of a secrets key: 32 random ones have fewer once in a thousand million. */
const MIN_KEY_BYTES = 17;

function adminTokenFault(token: string | undefined): string | undefined {
  if (token === undefined || token === DEV_ADMIN_TOKEN)
    return "must be set: its default is for local chains only";
  if (token.length < MIN_TOKEN_LENGTH || new Set(token).size < MIN_TOKEN_CHARACTERS) {
    return `must be random and have ${MIN_TOKEN_LENGTH} characters at least (openssl rand -hex 32)`;
  }
  return undefined;
}

/** Why a key for secrets at rest may not be used off local chains; undefined for a good one. */
export function secretsKeyFault(key: string | undefined): string | undefined {
  if (key === undefined || key.toLowerCase() === DEV_SECRETS_KEY) {
    return "must be set: its default is for local chains only";
  }
  if (new Set(Buffer.from(key, "hex")).size < MIN_KEY_BYTES) return "must be random (openssl rand -hex 32)";
  return undefined;
}

/** True when the deployment file describes a public chain; false while it cannot be read, which its reader reports. */
function isOffLocal(deploymentFile: string | undefined): boolean {
  if (deploymentFile === undefined) return false;
  try {
    return !readDeployment(deploymentFile).local;
  } catch (error) {
    if (error instanceof ConfigError) return false;
    throw error;
  }
}

/** The api's variables that would be unsafe on a public chain. */
export function unsafeOffLocal({
  DEPLOYMENT_FILE,
  ADMIN_TOKEN,
  SECRETS_KEY,
  PUBLIC_URL,
}: Variables): Fault[] {
  if (!isOffLocal(DEPLOYMENT_FILE)) return [];
  const faults = {
    ADMIN_TOKEN: adminTokenFault(ADMIN_TOKEN),
    SECRETS_KEY: secretsKeyFault(SECRETS_KEY),
    // Links would otherwise repeat whatever Host the caller sent.
    PUBLIC_URL: PUBLIC_URL === undefined ? "must be set on a chain that is not local" : undefined,
  };
  return Object.entries(faults).flatMap(([name, fault]): Fault[] =>
    fault === undefined ? [] : [[name, fault]],
  );
}
