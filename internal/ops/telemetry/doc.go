// Package telemetry makes what the rest of the program tells about itself with: the logger, the metrics registry, the ids of
// requests and the spans of traces.
//
// A request gets its id at the door ([WithRequest]); it travels in the context, and the logger of [NewLogger] writes it into every line.
// Labels of metrics come from closed sets: [MethodLabel], [ToolLabels]. [Savings] counts what is cut, recovered, spent and saved, for the
// metrics, the history and the events alike; [Reloads] counts how the configuration was read again.
//
// [Tracing] is OpenTelemetry, sent to a collector by collector.go. The nil *Tracing is off: [StartMessage] and its like then give back the
// context that they got and an empty [Span], without an allocation. W3C Trace Context is read and passed on in tracecontext.go, traced or not.
package telemetry
