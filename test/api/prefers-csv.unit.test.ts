import { expect, test } from "vitest";
import { prefersCsv } from "../../api/indexed/prefers-csv.ts";

test.each([
  "text/csv",
  "Text/CSV",
  "text/csv; charset=utf-8",
  "text/*",
  "text/csv, */*",
  "text/csv, */*;q=0.1",
  "application/json;q=0.5, text/csv",
  "text/csv, application/json",
])("%s: a table", (accept) => expect(prefersCsv(accept)).toBe(true));

test.each([
  undefined,
  "",
  "*/*",
  "application/json",
  "text/csv;q=0",
  "text/csv;q=0.1, */*",
  "*/*, text/csv;q=0.1",
  "application/json, text/csv",
  "application/json, text/*;q=0.9",
  "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
])("%s: JSON", (accept) => expect(prefersCsv(accept)).toBe(false));
