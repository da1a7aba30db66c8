import { connect } from "../../lib/db/connect.ts";

/** Lock timeout of a statement for many subscriptions, in ms: a locked one must not delay the others. */
const LOCK_MS = 250;

/** Opens the connection pools of the deliveries. Statements are planned anew each time, because the tables grow fast. */
export function openDatabasePools(url: string) {
  const common = { max: 2, freshPlans: true };
  const durable = connect(url, { name: "webhooks", lockTimeout: LOCK_MS, ...common });
  const asyncCommit = connect(url, {
    name: "webhooks-async",
    lockTimeout: LOCK_MS,
    durable: false,
    ...common,
  });
  const patient = connect(url, { name: "webhooks-patient", ...common });
  return {
    sql: durable.sql,
    /** Commits without waiting for the disk: a crash of the server may lose the last writes. */
    asyncCommit: asyncCommit.sql,
    /** Without a lock timeout, for statements about a single subscription. */
    patient: patient.sql,
    close: async () => {
      await Promise.all([durable.close(), asyncCommit.close(), patient.close()]);
    },
  };
}
