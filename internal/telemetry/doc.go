// Package telemetry makes the logger and the metrics registry that the rest of the program is handed.
package telemetry
