// Package discover reads the sessions that coding agents have recorded on this machine, and says what they cost and what
// pruning and masking would have saved. Nothing leaves the machine.
//
// [Stores] names the folders of the agents, [Find] lists their files. [Run] reads each file as a stream: what was
// paid is what the provider counted and the agent wrote down, at the prices of that day (paid.go, opencode.go). The savings
// come from playing sessions through the proxy's own code (package replay): all of them, or a sample of large stores.
// A [Report] prints itself as a table (print.go), as JSON, or as a page (page.go).
package discover
