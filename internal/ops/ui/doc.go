// Package ui is the door for browsers: it serves the dashboard's files and signs people in. The
// pages are static and the same for everyone; they fetch their data from the control plane.
//
// A person enters a token once and gets a session in two halves (session.go). One is a cookie
// (HttpOnly, SameSite=Strict) that the browser sends only to the control plane. The other is a key
// that the page keeps and sends as a header. Each request is checked with the session's token, so a
// revoked or expired token ends the session's access. A content security policy (policy.go)
// restricts what a page may load and do; browsers report violations.
package ui
