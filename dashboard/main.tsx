/** The dashboard: https://…/ of the API. */
import { render } from "preact";
import { startClock } from "./data/clock.ts";
import { startHeartbeat } from "./data/heartbeat.ts";
import { refreshShown } from "./data/reads.ts";
import { Shell } from "./shell/shell.tsx";
import "./styles/main.css";

const root = document.getElementById("app");
if (!root) throw new Error("the page has no element #app");
root.replaceChildren(); // what stands there until the script has come
render(<Shell />, root);
startClock();
startHeartbeat(refreshShown);
