import { createServer } from "node:net";

/**
 * Below the ports that Linux (from 32768) and macOS (from 49152) give to outgoing connections: a client could take such a
 * port between the check and the start of the server.
 */
const firstPort = 20_000;
const lastPort = 32_000;
/** Each worker of a test run draws from its own lane: two workers at once could find the same port free. */
const lanes = 8;
const laneSize = (lastPort - firstPort) / lanes;
const laneStart = firstPort + (Number(process.env.VITEST_POOL_ID ?? 0) % lanes) * laneSize;
const drawn = new Set<number>();

function canListen(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", (error: NodeJS.ErrnoException) => resolve(error.code !== "EADDRINUSE"));
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => resolve(true)));
  });
}

/** True when nobody listens on `port`, on 127.0.0.1 or on all addresses. */
export async function isPortFree(port: number): Promise<boolean> {
  return (await canListen(port, "127.0.0.1")) && (await canListen(port, "0.0.0.0"));
}

/** A port that nobody listens on and that this process has not returned before. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = laneStart + Math.floor(Math.random() * laneSize);
    if (drawn.has(port) || !(await isPortFree(port))) continue;
    drawn.add(port);
    return port;
  }
}

/** `count` different free ports. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) ports.push(await freePort());
  return ports;
}
