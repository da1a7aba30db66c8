import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isHex } from "viem";
import { z } from "zod";
import { projectRoot } from "../../../lib/project-root.ts";

const folder = join(projectRoot, ".data", "artifacts");
const artifact = z.object({ bytecode: z.custom<`0x${string}`>((text) => isHex(text)) });

/** The creation code of a contract from the last compilation. @throws when it was never compiled. */
export function bytecodeOf(contract: string): `0x${string}` {
  const file = join(folder, `${contract}.json`);
  try {
    return artifact.parse(JSON.parse(readFileSync(file, "utf8"))).bytecode;
  } catch (cause) {
    throw new Error(`${contract} is not compiled: run \`npm run compile\``, { cause });
  }
}
