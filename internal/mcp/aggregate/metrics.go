package aggregate

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"secateur/internal/access"
	"secateur/internal/mcp/wire"
	"secateur/internal/ops/telemetry"
)

// metrics count what passes this door.
type metrics struct {
	requests telemetry.Requests
	waiting  prometheus.Gauge
}

func newMetrics(reg prometheus.Registerer) metrics {
	m := metrics{
		requests: telemetry.NewRequests(reg, telemetry.RequestsOptions{
			Total: "secateur_mcp_requests_total", TotalHelp: "Requests of MCP clients by server, method, tool and outcome.",
			Seconds: "secateur_mcp_request_seconds", SecondsHelp: "Time from a whole request to its answer.",
		}),
		waiting: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "secateur_mcp_parked_calls", Help: "Calls that wait for their client to come back with an answer.",
		}),
	}
	if reg != nil {
		reg.MustRegister(m.waiting)
	}
	return m
}

// begin counts a request, which is answered here unless it turns out to be for a server.
func (s *Server) begin(req *wire.Message, span telemetry.Span) telemetry.Timing {
	return telemetry.Timing{
		Requests: s.metrics.requests, Tools: s.opt.Tools, Events: s.opt.Events, Span: span,
		Began: time.Now(), Door: string(access.DoorMCP), Method: telemetry.MethodLabel(req.Method), In: len(req.Raw),
	}
}
