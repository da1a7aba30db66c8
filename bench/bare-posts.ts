/** Posts bodies as fast as a bare loop can: the least that a sender of webhooks has to do. */
import { Agent, request } from "undici";

/** As long as the real ones. */
const headers = {
  "content-type": "application/json",
  "user-agent": "bare-loop/1.0",
  "webhook-id": `evt_${"0".repeat(32)}`,
  "webhook-timestamp": "1700000000",
  "webhook-signature": `v1,${"A".repeat(43)}=`,
  "x-service-signature": "0".repeat(64),
};

/** Posts every body to every address, with so many requests under way at a time, and reads every answer. */
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
