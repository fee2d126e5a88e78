package aggregate

import (
	"context"
	"strings"
	"sync"

	"secateur/internal/mcp/catalog"
)

// contractNames remembers which clients were seen to list tools under the contract's separator.
type contractNames struct {
	mu   sync.Mutex
	seen map[string]struct{} // guarded by mu; by the client's name
}

// maxContractClients bounds how many clients are remembered: they may call themselves anything.
const maxContractClients = 64

// first reports whether this client was not seen before.
func (n *contractNames) first(client string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, seen := n.seen[client]; seen || len(n.seen) >= maxContractClients {
		return false
	}
	if n.seen == nil {
		n.seen = map[string]struct{}{}
	}
	n.seen[client] = struct{}{}
	return true
}

// noteContractNames tells the operator, once for each client, that the tools it lists have names which a client that hands
// them to a model as they are cannot use: the models' APIs take no colon.
func (s *clientConn) noteContractNames(ctx context.Context, c *client, v *catalog.View) {
	if !strings.Contains(v.Naming().Separator, ":") || !s.contractNames.first(c.name) {
		return
	}
	s.log.InfoContext(ctx, "a client lists tools under names that most models' APIs refuse", "client", brief(c.name),
		"separator", v.Naming().Separator,
		"hint", "if its model answers 400, connect it to /mcp?separator=__&max_length=64, start 'secateur stdio --separator __', or name it in [naming.clients]")
}

// brief shortens what a client calls itself for the log.
func brief(name string) string {
	const most = 80
	if len(name) > most {
		return strings.ToValidUTF8(name[:most], "") + "…"
	}
	return name
}
