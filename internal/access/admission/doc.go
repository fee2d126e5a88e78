// Package admission decides for every door whether a call may proceed: by the rules and by the
// limits. It also says what to redact, writes the audit and counts refusals. The door decides what
// a refusal looks like.
//
// A door asks twice. [Control.Enter] comes first, when only the caller is known, and applies the
// limits about callers. [Control.Ask] follows once names are resolved, and applies the rules and
// the other limits.
package admission
