import { UsageError } from "../usage-error.ts";

/** The file that `npm run backup` and `npm run restore` are given. @throws {UsageError} unless there is exactly one */
export function fileArgument(argv: readonly string[], usage: string): string {
  const [file, ...rest] = argv;
  if (file === undefined || file.startsWith("-")) throw new UsageError(usage);
  if (rest.length > 0) throw new UsageError(`unexpected argument ${rest.join(" ")}\n\n${usage}`);
  return file;
}
