// The shell around every page: who is connected where, the navigation, and the theme.

import { Component, type ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ApiError, send } from "./kit/api.ts";
import { Empty, ErrorNotice, Loaded, Skeleton } from "./kit/feedback.tsx";
import { zone } from "./kit/format.tsx";
import { Icon, type IconName } from "./kit/icons.tsx";
import { KeyboardHelp } from "./kit/keys.tsx";
import { Page } from "./kit/page.tsx";
import { useResource } from "./kit/resource.ts";
import { Link, useAddress } from "./kit/router.tsx";
import { useScroll } from "./kit/scroll.ts";
import { type Session, SessionContext } from "./kit/session.ts";
import { findRoute, type PageModule } from "./routes.ts";

const areas: readonly { to: string; text: string; icon: IconName }[] = [
  { to: "/", text: "Overview", icon: "overview" },
  { to: "/batches", text: "Batches", icon: "batches" },
  { to: "/upload", text: "Upload", icon: "upload" },
  { to: "/transactions", text: "Transactions", icon: "transactions" },
  { to: "/entities", text: "Entities", icon: "entities" },
  { to: "/documents", text: "Documents", icon: "documents" },
  { to: "/screening", text: "Screening", icon: "screening" },
  { to: "/policies", text: "Policies", icon: "policies" },
  { to: "/webhooks", text: "Webhooks", icon: "webhooks" },
];

/** Shell is the whole page. Nothing else is shown before the command has said where it is connected to. */
export function Shell() {
  const session = useResource("session", (signal) => send("get", "/console/session", { signal }) as Promise<Session>);
  const { path, entry } = useAddress();
  const main = useRef<HTMLElement>(null);
  const before = useRef(path);
  useScroll(entry, path);
  useLayoutEffect(() => {
    if (before.current === path) return;
    before.current = path;
    // What the new page has focused keeps the focus.
    if (!main.current?.contains(document.activeElement)) main.current?.focus({ preventScroll: true });
  }, [path]);
  return (
    <SessionContext.Provider value={session.value}>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <div class="shell">
        <Side session={session.value} path={path} />
        <main id="main" tabIndex={-1} ref={main}>
          {session.value === undefined && session.error !== undefined ? (
            <Page title="The console cannot be shown">
              <ErrorNotice error={session.error} retry={session.reload} />
            </Page>
          ) : (
            <Loaded resource={session} lines={8}>
              {() => (
                <Failsafe key={path}>
                  <Current path={path} />
                </Failsafe>
              )}
            </Loaded>
          )}
        </main>
      </div>
      <KeyboardHelp />
    </SessionContext.Provider>
  );
}

function Side({ session, path }: { session: Session | undefined; path: string }) {
  const [open, setOpen] = useState(false);
  useEffect(() => setOpen(false), [path]);
  const all = session?.is_operator
    ? [...areas, { to: "/operator", text: "Operator", icon: "operator" as IconName }]
    : areas;
  return (
    <header class={open ? "side is-open" : "side"}>
      <div class="side-top">
        <Link to="/" class="brand">
          <img src="/assets/icon.svg" alt="" />
          Sluice
        </Link>
        <button
          type="button"
          class="quiet side-toggle"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
          aria-label="Menu"
        >
          <Icon name="menu" />
        </button>
      </div>
      <nav aria-label="Areas">
        <ul>
          {all.map(({ to, text, icon }) => (
            <li key={to}>
              <Link
                to={to}
                aria-current={path === to || (to !== "/" && path.startsWith(to + "/")) ? "page" : undefined}
              >
                <Icon name={icon} />
                {text}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <div class="side-foot">
        {session && (
          <dl>
            <div>
              <dt>Connection</dt>
              <dd>{session.connection}</dd>
            </div>
            <div>
              <dt>Tenant</dt>
              <dd>{session.tenant_id}</dd>
            </div>
            <div>
              <dt>Client</dt>
              <dd>{session.client_id}</dd>
            </div>
            <div>
              <dt>Times</dt>
              <dd>{zone}</dd>
            </div>
          </dl>
        )}
        <Theme />
        <p class="aside">
          Press <kbd>?</kbd> for keys
        </p>
      </div>
    </header>
  );
}

const themeKey = "sluice-theme";

/** Theme switches between light and dark; until then the system decides. */
function Theme() {
  const [theme, setTheme] = useState(() => localStorage.getItem(themeKey) ?? "");
  const dark = theme === "dark" || (theme === "" && matchMedia("(prefers-color-scheme: dark)").matches);
  useEffect(() => {
    if (theme === "") return;
    document.documentElement.dataset.theme = theme;
    localStorage.setItem(themeKey, theme);
  }, [theme]);
  return (
    <button type="button" onClick={() => setTheme(dark ? "light" : "dark")}>
      <Icon name={dark ? "light" : "dark"} />
      {dark ? "Light colours" : "Dark colours"}
    </button>
  );
}

/** loaded are the modules that have been needed so far, by the patterns of their addresses. */
const loaded = new Map<string, PageModule>();

/** Current loads the module of the page that the address names, and shows it. */
function Current({ path }: { path: string }) {
  const found = findRoute(path);
  const pattern = found?.route.pattern ?? "";
  const [module, setModule] = useState(loaded.get(pattern));
  const [error, setError] = useState<ApiError>();
  useEffect(() => {
    let ended = false;
    found?.route.load().then(
      (came) => {
        loaded.set(pattern, came);
        if (!ended) setModule(came);
      },
      (cause) =>
        ended ||
        setError(
          new ApiError(
            0,
            "A part of the page did not come.",
            ["Is the console's command still running? Reload when it is."],
            "",
            0,
            cause,
          ),
        ),
    );
    return () => void (ended = true);
  }, [pattern]);
  if (!found) {
    return (
      <Page title="No such page">
        <Empty title="The console has no page at this address.">
          <Link to="/">Go to the overview</Link>
        </Empty>
      </Page>
    );
  }
  if (error) {
    return (
      <Page title="The page could not be loaded">
        <ErrorNotice error={error} retry={() => location.reload()} />
      </Page>
    );
  }
  if (!module) return <Skeleton lines={8} />;
  return <module.default parameters={found.parameters} />;
}

/** Failsafe shows an error of the page itself in place of an empty window. */
class Failsafe extends Component<{ children: ComponentChildren }, { error?: unknown }> {
  static getDerivedStateFromError(error: unknown) {
    return { error };
  }
  override render() {
    if (this.state.error === undefined) return this.props.children;
    const error = new ApiError(
      0,
      "The page has failed. This is a fault of the console.",
      [String(this.state.error)],
      "",
      0,
      this.state.error,
    );
    return (
      <Page title="The page has failed">
        <ErrorNotice error={error} retry={() => this.setState({ error: undefined })} />
      </Page>
    );
  }
}
