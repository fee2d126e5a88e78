import { render } from "preact";
import "./styles/base.css";
import "./styles/parts.css";
import "./styles/pages.css";
import { App } from "./app.tsx";

const root = document.getElementById("app");
if (root) render(<App />, root);
