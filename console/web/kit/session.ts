// What the command says about itself: where it is connected to, and as whom.

import { createContext } from "preact";
import { useContext } from "preact/hooks";

/** Session is the answer of /console/session. */
export interface Session {
  version: string;
  /** api_url is the address to which the paths of the interface are appended. */
  api_url: string;
  /** connection says which home the command is connected to: "local cloud", "profile NAME", "flags". */
  connection: string;
  /** token_url is the token endpoint. */
  token_url: string;
  /** flags go with commands, already quoted: service with those that call the service, cloud with those that read the installation. */
  flags: { service: string; cloud: string };
  tenant_id: string;
  client_id: string;
  /** is_operator is true if the command has credentials of the cloud. */
  is_operator: boolean;
  /** metrics is true if the metrics of a local cloud can be read. */
  metrics: boolean;
  /** listener is true if the service can deliver events to this machine. */
  listener: boolean;
}

export const SessionContext = createContext<Session | undefined>(undefined);

/** useSession returns the session. It must be called below the shell, which shows no page before there is one. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (!session) throw new Error("useSession is called outside the shell");
  return session;
}
