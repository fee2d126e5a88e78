// Package access decides who is calling and what they may use. It takes values and returns values;
// the doors turn these into responses.
//
// A [Policy] keeps foreign web pages out. A page on the internet cannot read a local listener
// directly. But it can let its own name point to 127.0.0.1 (DNS rebinding), which shows in the Host
// header. Or it can post to the listener, which shows in the Origin header. Both are refused before
// the request is read.
//
// A [Principal] is the caller. [Rules] are the compiled [[acl]] entries. [Rules.Decide] says
// whether a principal may use a [Target], named by its server and the server's own name for it.
// [Redact] makes the replacements of the rules that apply. [Rules.Explain] gives the same decision
// rule by rule.
package access
