// Package buffer lends byte slices from a pool of size classes, and reads whole bodies into them within a bound.
package buffer
