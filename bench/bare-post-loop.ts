/** A bare loop that posts bodies: the minimal work of a webhook sender. */
import { Agent, request } from "undici";

/** The same length as the headers of real deliveries. */
const headers = {
  "content-type": "application/json",
  "user-agent": "bare-loop/1.0",
  "webhook-id": `evt_${"0".repeat(32)}`,
  "webhook-timestamp": "1700000000",
  "webhook-signature": `v1,${"A".repeat(43)}=`,
  "x-service-signature": "0".repeat(64),
};

/** Posts every body to every URL with `concurrency` requests at a time, and reads each response. */
export async function postBare(
  urls: readonly string[],
  bodies: readonly string[],
  concurrency: number,
): Promise<void> {
  const dispatcher = new Agent({ connections: concurrency, pipelining: 1 });
  let next = 0;
  const client = async () => {
    for (;;) {
      const n = next;
      next += 1;
      const body = bodies[Math.floor(n / urls.length)];
      if (body === undefined) return;
      const answer = await request(urls[n % urls.length] ?? "", {
        method: "POST",
        headers,
        body,
        dispatcher,
      });
      await answer.body.text();
    }
  };
  try {
    await Promise.all(Array.from({ length: concurrency }, client));
  } finally {
    await dispatcher.close();
  }
}
