/** The part of autocannon that the benchmarks use; the package has no types. */
declare module "autocannon" {
  type Request = {
    method?: string;
    path?: string;
    headers?: Record<string, string>;
    body?: string;
    setupRequest?: (request: Request) => Request;
  };
  type Result = {
    requests: { average: number };
    /** ms */
    latency: { p99: number };
    errors: number;
    non2xx: number;
    statusCodeStats: unknown;
  };
  export default function autocannon(options: {
    url: string;
    connections: number;
    /** Seconds. */
    duration: number;
    requests?: Request[];
  }): Promise<Result>;
}
