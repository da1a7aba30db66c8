import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { isRunning } from "./pids.ts";

/**
 * Below the ports that Linux (from 32768) and macOS (from 49152) give to outgoing connections: a client could take such a
 * port between the check and the start of the server.
 */
const firstPort = 20_000;
const lastPort = 32_000;
/** Each worker of a test run draws from its own lane: two workers at once could find the same port free. */
const LANES = 8;
const LANE_SIZE = (lastPort - firstPort) / LANES;
const ownLane = Number(process.env.VITEST_POOL_ID ?? 0) % LANES;
/** Each drawn port has a file here with the id of the process that drew it: another test run draws from the same lanes. */
const reservations = join(tmpdir(), `cover-ports-${userInfo().uid}`);

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

/** The process that drew a port; 0 while the file is written, undefined without one. */
function ownerOf(file: string): number | undefined {
  try {
    return Number(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

/** Reserves a port until this process ends. @returns whether no process that runs had it */
function reserve(port: number, folder: string): boolean {
  const file = join(folder, String(port));
  const owner = ownerOf(file);
  if (owner === 0 || (owner !== undefined && isRunning(owner))) return false;
  rmSync(file, { force: true });
  try {
    writeFileSync(file, String(process.pid), { flag: "wx" });
    return true;
  } catch {
    return false;
  }
}

/** A port that nobody listens on and that no process which runs has drawn. @throws when there is none among the lane's first `size` */
export async function freePort({
  lane = ownLane,
  folder = reservations,
  size = LANE_SIZE,
} = {}): Promise<number> {
  mkdirSync(folder, { recursive: true });
  const start = firstPort + lane * LANE_SIZE;
  const first = Math.floor(Math.random() * size);
  for (let n = 0; n < size; n += 1) {
    const port = start + ((first + n) % size);
    if (reserve(port, folder) && (await isPortFree(port))) return port;
  }
  throw new Error(`no port from ${start} to ${start + size - 1} is free`);
}

/** `count` different free ports. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) ports.push(await freePort());
  return ports;
}
