/** Where the dev stack's main chain is, and the file that describes it. */
import { join, resolve } from "node:path";
import type { DevConfig } from "../../lib/config.ts";
import { projectRoot } from "../../lib/project-root.ts";

/** Chain id of the main chain; that of a fork is the forked chain's. */
export const mainChainId = 8453;

/** The folder of the deployment files. */
export const deploymentFolder = ({ DATA_DIR }: Pick<DevConfig, "DATA_DIR">): string =>
  join(resolve(projectRoot, DATA_DIR), "deployments");

/** The file of a chain. */
export const deploymentFileOf = (folder: string, chainId: number): string => join(folder, `${chainId}.json`);

/** The main chain of a dev stack with these variables, unless it is a fork of a chain with another id. */
export const mainChainOf = (config: Pick<DevConfig, "DATA_DIR" | "ANVIL_PORT">) => ({
  rpcUrl: `http://127.0.0.1:${config.ANVIL_PORT}`,
  deploymentFile: deploymentFileOf(deploymentFolder(config), mainChainId),
});
