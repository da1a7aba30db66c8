import { z } from "@hono/zod-openapi";
import { expect, test } from "vitest";
import { csvTable, csvText } from "../../api/indexed/csv.ts";

const page = z.object({
  count: z.int(),
  nextCursor: z.string().nullable(),
  sales: z.array(
    z.object({
      price: z.string(),
      buyer: z.object({ address: z.string(), name: z.string().nullable() }).nullable(),
      rounds: z.array(z.string()),
      closedAt: z.string().nullable(),
    }),
  ),
});
const header = "price,buyer.address,buyer.name,rounds,closedAt\r\n";

test("a list is a table: nested fields are columns, lists in a row are JSON, null is empty", () => {
  const json = JSON.stringify({
    count: 1,
    nextCursor: null,
    sales: [
      {
        price: "123456789012345678901234567890",
        buyer: { address: "0xab", name: "Ann" },
        rounds: ["1", "2"],
        closedAt: null,
      },
      { price: "-5", buyer: null, rounds: [], closedAt: "9" },
    ],
  });
  expect(csvText(csvTable(page), json)).toBe(
    `${header}123456789012345678901234567890,0xab,Ann,"[""1"",""2""]",\r\n-5,,,[],9\r\n`,
  );
});

test("an empty list is the header alone", () => {
  expect(csvText(csvTable(page), '{"count":0,"nextCursor":null,"sales":[]}')).toBe(header);
});

test("an answer without a list is the only row", () => {
  const table = csvTable(z.object({ policies: z.int(), coverage: z.string() }));
  expect(csvText(table, '{"policies":3,"coverage":"100"}')).toBe("policies,coverage\r\n3,100\r\n");
});

test("quotes, commas and line breaks are quoted, and text that is a formula is not run by a spreadsheet", () => {
  const table = csvTable(z.object({ names: z.array(z.object({ name: z.string() })) }));
  const names = ['a "b", c', "two\nlines", '=HYPERLINK("x")', "+1-2", "-1.5", "@x"];
  const json = JSON.stringify({ names: names.map((name) => ({ name })) });
  expect(csvText(table, json).split("\r\n").slice(1, -1)).toEqual([
    '"a ""b"", c"',
    '"two\nlines"',
    `"'=HYPERLINK(""x"")"`,
    "'+1-2",
    "-1.5",
    "'@x",
  ]);
});

test("the columns of a union are those of all its forms", () => {
  const row = z.union([z.object({ a: z.string() }), z.object({ a: z.string(), b: z.string() })]);
  expect(csvTable(z.object({ row })).columns).toEqual(["row.a", "row.b"]);
});
