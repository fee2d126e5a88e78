// The pages, in the order of the navigation. The key follows g.
export const pages = [
  { id: "live", name: "Live", key: "l", about: "Requests as they happen" },
  { id: "savings", name: "Savings", key: "s", about: "Money, tokens, conversations" },
  { id: "cuts", name: "Cuts", key: "c", about: "What was taken out, and what stayed" },
  { id: "servers", name: "Servers", key: "v", about: "Health, tools, standard error" },
  { id: "access", name: "Access", key: "a", about: "Rules, tokens, limits, refusals" },
  { id: "playground", name: "Playground", key: "p", about: "Try the pruner on a text" },
] as const;

export type PageID = (typeof pages)[number]["id"];
