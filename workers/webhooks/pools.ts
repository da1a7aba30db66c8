import { connect } from "../../lib/db/connect.ts";

/** A statement for many subscriptions waits so long for one that somebody else has locked, in ms. */
const LOCK_MS = 250;

/** The connections on which deliveries are taken and settled. The tables may have grown since a statement was first used. */
export function openPools(url: string) {
  const common = { max: 4, freshPlans: true };
  const durable = connect(url, { name: "webhooks", lockTimeout: LOCK_MS, ...common });
  const notes = connect(url, { name: "webhooks-notes", lockTimeout: LOCK_MS, durable: false, ...common });
  const patient = connect(url, { name: "webhooks-patient", ...common });
  return {
    sql: durable.sql,
    /** For what a crash of the server may forget. */
    notes: notes.sql,
    /** For single items that wait for their locks. */
    patient: patient.sql,
    close: async () => {
      await Promise.all([durable.close(), notes.close(), patient.close()]);
    },
  };
}
