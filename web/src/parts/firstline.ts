// The line that makes a first thing happen: a call of the demo server where there is one, else a client that is connected.
import { all, identity } from "../api/client.ts";
import type { Server } from "../api/types.ts";
import { useLoad } from "../load.ts";

export interface FirstLine {
  line: string;
  demo: boolean; // it asks the demo server for a build log
}

/** undefined until it is known which servers there are: a line that would change under the eyes is worse than none. */
export function useFirstLine(): FirstLine | undefined {
  const servers = useLoad("servers for a first line", () => all<Server>("/servers"));
  if (!servers.value && !servers.failure) return undefined;
  if (!servers.value?.some((s) => s.id === "demo")) return { line: "secateur connect claude-code", demo: false };
  const header = identity.value?.issuer === "none" ? "" : ' -H "Authorization: Bearer $SECATEUR_TOKEN"';
  const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_log","arguments":{}}}`;
  return { line: `curl -s ${location.origin}/api/mcp-gateway/demo/rpc${header} -d '${call}'`, demo: true };
}
