package tasks_test

import (
	"bytes"
	"strings"
	"testing"

	"secateur/internal/mcp/tasks"
)

func FuzzTells(f *testing.F) {
	for _, answer := range []string{
		"", `Id"`, `"task`, `"taskId"`, `{"taskId":"7"}`, `{"userId":"7","task":{"taskId" : "8"}}`, `{"taskID":"7"}`, `"taskId`,
		`"tasktaskId"`, `Id"taskId"`, `"taskIdId"`, `"taskId"taskId"`, strings.Repeat(`Id"`, 100) + `"taskId"`, `{"\u0074askId":"7"}`,
	} {
		f.Add([]byte(answer))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		if got, want := tasks.Tells(answer), bytes.Contains(answer, []byte(`"taskId"`)); got != want {
			t.Errorf("%q: %v, want %v", answer, got, want)
		}
	})
}
