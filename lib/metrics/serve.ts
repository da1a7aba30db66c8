/** Serves a process's metrics for Prometheus on a port of its own, which clients of the API never reach. */
import { createServer, type Server } from "node:http";
import type { Registry } from "prom-client";
import { ConfigError } from "../config-error.ts";
import { errorText, type Logger } from "../log.ts";

export type MetricsServerOptions = {
  readonly registry: Registry;
  /** Called before each scrape, to set gauges. */
  readonly collect: () => Promise<unknown>;
  readonly host: string;
  readonly port: number;
  /** The variable that holds the port, for the error. */
  readonly portVariable: string;
  readonly log: Logger;
};

type Address = Pick<MetricsServerOptions, "host" | "port" | "portVariable">;

function listen(server: Server, { host, port, portVariable }: Address): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const message =
        error.code === "EADDRINUSE"
          ? `${portVariable} ${port} is taken by another process`
          : `cannot listen on METRICS_HOST ${host}, ${portVariable} ${port}: ${error.message}`;
      reject(new ConfigError([message]));
    });
    server.listen({ port, host }, resolve);
  });
}

/**
 * Serves `GET /metrics` and nothing else. @returns the function that stops it.
 * @throws {ConfigError} when it cannot listen on the port
 */
export async function serveMetrics(options: MetricsServerOptions): Promise<() => Promise<void>> {
  const { registry, collect, log } = options;
  let collecting: Promise<string> | undefined;
  /** Concurrent scrapes share one result. */
  function scrape(): Promise<string> {
    collecting ??= collect()
      .then(() => registry.metrics())
      .finally(() => {
        collecting = undefined;
      });
    return collecting;
  }
  const server = createServer((request, response) => {
    if (request.method !== "GET" || request.url?.split("?")[0] !== "/metrics") {
      response.writeHead(404).end();
      return;
    }
    scrape().then(
      (text) => response.writeHead(200, { "content-type": registry.contentType }).end(text),
      (error: unknown) => {
        log.error({ err: errorText(error) }, "collecting the metrics failed");
        response.writeHead(500).end();
      },
    );
  });
  await listen(server, options);
  return async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
}
