import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isHex } from "viem";
import { z } from "zod";

const folder = join(dirname(fileURLToPath(import.meta.url)), "..", "..", ".data", "artifacts");
const artifact = z.object({ bytecode: z.custom<`0x${string}`>((text) => isHex(text)) });

/** The creation code of a contract, as the last compilation left it; throws when there was none. */
export function bytecodeOf(contract: string): `0x${string}` {
  const file = join(folder, `${contract}.json`);
  try {
    return artifact.parse(JSON.parse(readFileSync(file, "utf8"))).bytecode;
  } catch (cause) {
    throw new Error(`${contract} is not compiled: run \`npm run compile\``, { cause });
  }
}
