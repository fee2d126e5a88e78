// Package access decides who is calling over HTTP and whether they may: the name under which the door was
// reached, the page a browser call comes from, and the shared token. It takes values and returns a [Verdict];
// the door turns that into an answer.
//
// The first two checks keep web pages out. A page on the internet cannot read a local listener directly, but it
// can let its own name point to 127.0.0.1 (DNS rebinding: the Host header then carries that name), or simply
// post to it (the Origin header then carries the page's). Both are refused before anything is read.
package access
