import { connect } from "../../lib/db/connect.ts";

/** Opens the connection pools of the deliveries. Statements are planned anew each time, because the tables grow fast. */
export function openDatabasePools(url: string) {
  const quick = connect(url, { name: "webhooks", max: 4, freshPlans: true });
  const patient = connect(url, { name: "webhooks-patient", max: 2, freshPlans: true });
  return {
    sql: quick.sql,
    /** For statements about a single subscription, which wait for locks. */
    patient: patient.sql,
    close: async () => {
      await Promise.all([quick.close(), patient.close()]);
    },
  };
}
