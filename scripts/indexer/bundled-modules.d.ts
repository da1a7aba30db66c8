/** Made by `npm run build`: what the indexer's bundle has of the folder from which it was built. */
declare module "indexer:sources" {
  /** Ponder's version. */
  export const ponderVersion: string;
  /** See `buildHash`. */
  export const builtFrom: string;
  /** Of Ponder; see `patchesHash`. */
  export const patches: string;
  /** By path from the folder, or by Ponder's name: executes the module at the first call. */
  export const sources: Readonly<Record<string, () => Promise<unknown>>>;
}

/** Ponder's command, which its package does not export. */
declare module "ponder/start" {
  export function start(options: {
    readonly cliOptions: {
      readonly command: "start";
      readonly version: string;
      readonly config: string;
      readonly schema: string;
      readonly port: number;
      readonly hostname: string;
      readonly logFormat: "json";
    };
  }): Promise<unknown>;
}
