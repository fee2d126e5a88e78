// Package secret holds values that must never be shown. A [Text] prints, logs and marshals as
// "[secret]". Only Reveal returns its content, so that every use can be found by name.
package secret
