/** What `collectDefaultMetrics` of prom-client exports in api and writer, as far as rules and boards name it. */
import { collectDefaultMetrics, type Registry } from "prom-client";
import { counter, gauge } from "./description.ts";

export const processMetrics = {
  cpuSeconds: counter("process_cpu_seconds_total", "CPU time of the process"),
  memory: gauge("process_resident_memory_bytes", "Memory of the process"),
  openFiles: gauge("process_open_fds", "Open files and connections"),
  mostFiles: gauge("process_max_fds", "The most files and connections that the system allows the process"),
  eventLoopLag: gauge(
    "nodejs_eventloop_lag_p99_seconds",
    "Time for which the event loop was blocked since the last scrape, 99th percentile",
  ),
} as const;

/** Registers CPU, memory, garbage collection and event-loop lag of this process. */
export const collectProcessMetrics = (registry: Registry): void =>
  collectDefaultMetrics({ register: registry });
