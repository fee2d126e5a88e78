// Package web holds the dashboard as it is served: dist, which `npm run build` makes of the sources beside it and which is committed, so that
// the program builds without Node.
package web

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var built embed.FS

// Dist is the built dashboard: index.html, and assets whose names carry a hash of their content.
func Dist() fs.FS {
	dist, err := fs.Sub(built, "dist")
	if err != nil {
		panic(err) // the name is a constant
	}
	return dist
}
