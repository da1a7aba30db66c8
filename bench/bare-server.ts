/** A bare Hono server that sends one answer for every path, from memory: `bare-server.ts <port> <file>`. */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { z } from "zod";

const answer = z.object({ headers: z.record(z.string(), z.string()), body: z.string() });
const [port, file] = process.argv.slice(2);
const { headers, body } = answer.parse(JSON.parse(readFileSync(file ?? "", "utf8")));
const app = new Hono().get("*", (c) => c.body(body, 200, headers));
createServer(getRequestListener(app.fetch)).listen(Number(port), "127.0.0.1");
