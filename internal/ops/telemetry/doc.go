// Package telemetry provides the logger, the metrics registry, request ids and trace spans.
//
// A request gets its id at the door ([WithRequest]). The id travels in the context, and the logger
// of [NewLogger] writes it into every line. Metric labels come from closed sets: [MethodLabel],
// [ToolLabels]. [Savings] counts what is cut, recovered, spent and saved, for metrics, history and
// events. [Reloads] counts reloads of the configuration.
//
// [Tracing] uses OpenTelemetry; collector.go sends spans to a collector. The nil *Tracing is off:
// [StartMessage] and the like then return the context unchanged and an empty [Span], without an
// allocation. tracecontext.go reads and forwards W3C Trace Context, whether tracing is on or off.
package telemetry
