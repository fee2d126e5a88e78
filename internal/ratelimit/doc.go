// Package ratelimit answers one question: may this principal call now? [Local] counts in this process.
package ratelimit
