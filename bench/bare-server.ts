/** A bare Hono server that answers every path with one body from memory: `bare-server.ts <port> <file>`. */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";

const [port, file] = process.argv.slice(2);
const body = readFileSync(file ?? "", "utf8");
const app = new Hono().get("*", (c) => c.body(body, 200, { "Content-Type": "application/json" }));
createServer(getRequestListener(app.fetch)).listen(Number(port), "127.0.0.1");
