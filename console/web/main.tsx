// The console's page begins here: the session, the navigation, and the page that the address names.

import "./style/main.css";
import { render } from "preact";
import { Shell } from "./shell.tsx";

render(<Shell />, document.getElementById("page")!);
