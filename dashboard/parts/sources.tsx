/** Where the data of a table or a plot comes from, as JSON and CSV. */
import { useState } from "preact/hooks";
import { readCsv } from "../../client/client.ts";

/** Saves the CSV of an address: a link cannot ask for another form of an answer. */
async function saveCsv(url: string): Promise<void> {
  const text = await readCsv({ baseUrl: "" }, url);
  const file = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  const link = document.createElement("a");
  link.href = file;
  link.download = `${url
    .slice(1)
    .replace(/^api\/v1\//, "")
    .replace(/[^\w-]+/g, "-")}.csv`;
  link.click();
  URL.revokeObjectURL(file);
}

export function Sources({ url, what }: { url: string; what: string }) {
  const [fault, setFault] = useState<string>();
  const save = () =>
    saveCsv(url).then(
      () => setFault(undefined),
      (error: unknown) => setFault(error instanceof Error ? error.message : String(error)),
    );
  return (
    <span class="sources">
      <a href={url} aria-label={`${what} as JSON`}>
        JSON
      </a>
      <button type="button" class="plain" onClick={save} aria-label={`${what} as CSV`}>
        CSV
      </button>
      {fault !== undefined && <span role="alert">{fault}</span>}
    </span>
  );
}
