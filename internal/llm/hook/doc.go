// Package hook prunes what the tools of an agent's program answer, before its model sees it. The program calls a hook with an event; the
// answer holds the tool's response with its longest text pruned for what the agent wants to know, and everything else as it came:
//
//	h := hook.New(hook.Options{Settings: hook.Default(), Originals: store, StateDir: dir})
//	answer, err := h.Answer(ctx, hook.Caller{Local: true}, event)
//
// No answer means that nothing is cut. An error is for the log: the program goes on with what its tool said. Originals are kept first.
// What was cut in a session is noted in a file of its own, so that a command that runs once and a daemon that is killed know the same.
package hook
