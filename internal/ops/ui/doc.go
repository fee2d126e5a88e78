// Package ui is the door for a person's browser: it serves the dashboard's files and signs people in. The pages themselves are static and the
// same for everyone; what they show they fetch from the control plane.
//
// A person shows a token once and gets a session in two halves (session.go): a cookie that scripts cannot read, that other sites' requests do not
// carry, and that the browser sends to the control plane alone; and a key that the page keeps and sends as a header. Each request is checked
// with the session's token, so that one that is revoked or has expired opens nothing.
// What a page may load and do is bounded by a content security policy (policy.go); a browser that had to stop something reports it.
package ui
