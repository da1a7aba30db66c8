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

const packageOf = (patch) => patch.split("+")[0];

/** A hash of all patches, or of one package's: other patches make another build. */
export const patchesHash = (packageName) =>
  sha256(
    readPatches()
      .filter(({ name }) => packageName === undefined || packageOf(name) === packageName)
      .map(({ name, text }) => `${name} ${sha256(text)}`)
      .join(),
  );

/** The hashes of the patches that are applied to a package. patch-package notes them in its folder, if it has more than one. */
function appliedTo(packageName) {
  const note = join(root, "node_modules", packageName, ".patch-package.json");
  if (!existsSync(note)) return [];
  const { patches } = JSON.parse(readFileSync(note, "utf8"));
  return patches.filter(({ didApply }) => didApply).map(({ patchContentHash }) => patchContentHash);
}

/** @throws when a package has other patches than its files in `patches/`, as after `npm install --ignore-scripts` */
export function requirePatches() {
  const patches = readPatches();
  const wantedOf = (name) =>
    patches.filter((one) => packageOf(one.name) === name).map(({ text }) => sha256(text));
  const differing = [...new Set(patches.map(({ name }) => packageOf(name)))].filter(
    (name) => appliedTo(name).join() !== wantedOf(name).join(),
  );
  if (differing.length === 0) return;
  const folders = differing.map((name) => `node_modules/${name}`).join(" ");
  throw new Error(
    `${differing.join(", ")}: not patched as in patches/. Run \`rm -r ${folders} && npm install\`.`,
  );
}
