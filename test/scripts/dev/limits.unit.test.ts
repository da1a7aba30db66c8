import { expect, test } from "vitest";
import { apiConfig, devConfig, devLimitNames } from "../../../lib/config.ts";

const api = apiConfig({
  DATABASE_URL: "postgres://127.0.0.1/x",
  RPC_URL: "http://127.0.0.1",
  DEPLOYMENT_FILE: "x",
});

test("each limit of the dev stack is a variable of the api, and higher than production's", () => {
  const dev = devConfig({});
  for (const name of devLimitNames) expect(dev[name], name).toBeGreaterThan(api[name]);
});

test("a limit that the developer sets counts on the dev stack too", () => {
  expect(devConfig({ SANDBOX_RATE_LIMIT: "10" }).SANDBOX_RATE_LIMIT).toBe(10);
});
