// Package admission is what every door asks before it does something for a caller: do the rules allow it, is there room within the
// limits, and what is to be redacted. It writes the audit and counts refusals; what a refusal looks like is the door's to say.
//
// A door asks twice. [Control.Enter] comes first, when nothing but the caller is known, and asks the limits that are about callers alone.
// [Control.Ask] comes once the names are resolved, and asks the rules and the other limits.
package admission
