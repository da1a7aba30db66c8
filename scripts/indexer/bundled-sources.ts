/**
 * Stands in for Vite, with which Ponder compiles configuration, tables and projections at each start: in the indexer's bundle they
 * are compiled already. It has what Ponder's command `start` uses of Vite's packages.
 */

import { sources } from "indexer:sources";
import { relative } from "node:path";

const nothing = () => {};

export const createServer = async ({ root }: { root: string }) => ({
  config: { root },
  pluginContainer: { buildStart: async () => {} },
  close: async () => {},
});

export class ViteNodeServer {
  readonly getSourceMap = nothing;
}

export class ViteNodeRunner {
  readonly #root: string;
  constructor({ root }: { root: string }) {
    this.#root = root;
  }
  executeFile(path: string): Promise<unknown> {
    return this.executeId(relative(this.#root, path));
  }
  async executeId(id: string): Promise<unknown> {
    const source = sources[id];
    if (source === undefined) throw new Error(`${id} is not in the indexer's bundle: run \`npm run build\``);
    return source();
  }
}

export const installSourcemapsSupport = nothing;
export const normalizeModuleId = nothing;
export const toFilePath = nothing;
/** vite-tsconfig-paths */
export default nothing;
