// Package secret holds values that must never be shown. A [Text] prints, logs and marshals as "[secret]";
// only Reveal gives its content, so that every use of one can be found by name.
package secret
