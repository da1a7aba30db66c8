import { createServer } from "node:net";

/**
 * Ports are drawn from below the range that Linux (32768 and up) and macOS (49152 and up) hand to outgoing connections:
 * a port from that range can be taken by anybody's client between our look and our server's start.
 */
const firstPort = 20_000;
const lastPort = 32_000;
const drawn = new Set<number>();

function canListen(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", (error: NodeJS.ErrnoException) => resolve(error.code !== "EADDRINUSE"));
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => resolve(true)));
  });
}

/** True when nobody listens on `port`, neither on 127.0.0.1 nor on all addresses. */
export async function isPortFree(port: number): Promise<boolean> {
  return (await canListen(port, "127.0.0.1")) && (await canListen(port, "0.0.0.0"));
}

/** A port that nobody listens on and that this process has not handed out before. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = firstPort + Math.floor(Math.random() * (lastPort - firstPort));
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
