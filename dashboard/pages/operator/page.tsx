import { Desk } from "./desk.tsx";
import { Gate } from "./gate.tsx";
import { session } from "./session.ts";

/** For who runs the service: what is stopped, stuck, spent and undelivered; and stopping. */
export default function Operator() {
  const now = session.value;
  return now.state === "open" ? <Desk /> : <Gate reason={now.reason} />;
}
