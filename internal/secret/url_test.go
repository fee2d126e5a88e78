package secret

import (
	"strings"
	"testing"
)

func TestURLShowsNoSecret(t *testing.T) {
	for in, want := range map[string]string{
		"https://host:1/path":                       "https://host:1/path",
		"https://hunter2@host/v1":                   "https://[secret]@host/v1",
		"redis://:hunter2@host:6379/2":              "redis://[secret]@host:6379/2",
		"redis://me:hun@ter2@host":                  "redis://[secret]@host",
		"redis://:hunter2@a:26379,b:26379/0?x=y":    "redis://[secret]@a:26379,b:26379/0?[secret]",
		"redis://a:26379,b:26379?password=hunter2":  "redis://a:26379,b:26379?[secret]",
		"redis://h?master_name=m&password=hunter2":  "redis://h?[secret]",
		"unix:///run/redis.sock?password=hunter2":   "unix:///run/redis.sock?[secret]",
		"https://host?key=hunter2@other.example/":   "https://host?[secret]",
		"https://host/@scope/pkg":                   "https://host/@scope/pkg",
		"https://host#access_token=hunter2":         "https://host#[secret]",
		"https://host/%zz?key=hunter2":              "https://host/%zz?[secret]",
		"https://host/?redirect=http://a:hunter2@b": "https://host/?[secret]",
		"file:/var/lib/secateur":                    "file:/var/lib/secateur",
		"memory:":                                   "memory:",
		"https://host/?":                            "https://host/?",
		"":                                          "",
	} {
		got := URL(in)
		if got != want || strings.Contains(got, "hunter2") {
			t.Errorf("URL(%q) = %q, want %q", in, got, want)
		}
	}
}
