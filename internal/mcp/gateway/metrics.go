package gateway

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"secateur/internal/access"
	"secateur/internal/mcp/upstream"
	"secateur/internal/ops/telemetry"
)

func newMetrics(reg prometheus.Registerer) telemetry.Requests {
	return telemetry.NewRequests(reg, telemetry.RequestsOptions{
		Total: "secateur_gateway_requests_total", TotalHelp: "Requests by server, method, tool and outcome.",
		Seconds: "secateur_gateway_request_seconds", SecondsHelp: "Time from a request to its answer.",
	})
}

// timing measures one request.
type timing struct{ telemetry.Timing }

// begin starts measuring a request of which only the sender is known.
func (g *Gateway) begin(principal *access.Principal) timing {
	return timing{telemetry.Timing{
		Requests: g.metrics, Tools: g.opt.Tools, Events: g.opt.Events,
		Began: time.Now(), Door: string(access.DoorGateway), Server: telemetry.Other, Method: telemetry.Other, Subject: principal.Name(),
	}}
}

// about records the request's method and tool.
func (t *timing) about(method, name string) {
	t.Method = telemetry.MethodLabel(method)
	if method == "tools/call" {
		t.Tool = name
	}
}

// outcomeOf distinguishes a result from a server's own error.
func outcomeOf(r *upstream.Reply) string {
	if r.Error != nil {
		return "server_error"
	}
	return "ok"
}
