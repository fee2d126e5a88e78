// Package access decides who is calling and what they may have. It takes values and returns values; the doors turn these into answers.
//
// A [Policy] keeps web pages out and asks for the shared token. A page on the internet cannot read a local listener directly, but it
// can let its own name point to 127.0.0.1 (DNS rebinding: the Host header then carries that name), or simply
// post to it (the Origin header then carries the page's). Both are refused before anything is read.
//
// A [Principal] is whoever calls. [Rules] are the [[acl]] entries, compiled: [Rules.Decide] says whether a principal may have a
// [Target], which is named by its server and the server's own name for it, and [Redact] makes the replacements that the rules
// on the way ask for. [Rules.Explain] says the same rule by rule.
package access
