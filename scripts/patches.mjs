// The patches of our packages (`patches/`, applied by patch-package after each installation), and whether they are applied.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./node.mjs";

const sha256 = (text) => createHash("sha256").update(text).digest("hex");

/** Name and content of each patch, in the order in which they are applied. */
function readPatches() {
  const folder = join(root, "patches");
  const names = existsSync(folder) ? readdirSync(folder).sort() : [];
  return names.map((name) => ({ name, text: readFileSync(join(folder, name)) }));
}

/** A hash of all patches: other patches make another build. */
export const patchesHash = () =>
  sha256(
    readPatches()
      .map(({ name, text }) => `${name} ${sha256(text)}`)
      .join(),
  );

/** The hashes of the patches that are applied to a package. patch-package notes them in the package's own folder. */
function appliedTo(packageName) {
  const note = join(root, "node_modules", packageName, ".patch-package.json");
  if (!existsSync(note)) return [];
  const { patches } = JSON.parse(readFileSync(note, "utf8"));
  return patches.filter(({ didApply }) => didApply).map(({ patchContentHash }) => patchContentHash);
}

/** @throws when a package lacks one of its patches, as after `npm install --ignore-scripts` */
export function requirePatches() {
  const missing = readPatches()
    .filter(({ name, text }) => !appliedTo(name.split("+")[0]).includes(sha256(text)))
    .map(({ name }) => name);
  if (missing.length > 0)
    throw new Error(`not applied: ${missing.join(", ")}. Run \`npx patch-package\`, or \`npm install\`.`);
}
