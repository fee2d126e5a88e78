// Package buffer provides byte slices from a pool with size classes, and reads whole bodies into
// them within a limit.
package buffer
