package doctor_test

import (
	"strings"
	"testing"

	"secateur/internal/ops/doctor"
)

func TestDoctorNamesTheClientsForWhichSearchingPays(t *testing.T) {
	for _, c := range []struct {
		rule  string
		l     doctor.Listed
		level doctor.Level
	}{
		{"many definitions", doctor.Listed{HasUs: true, Definitions: 97_412}, doctor.Warn},
		{"few", doctor.Listed{HasUs: true, Definitions: 9_999}, doctor.OK},
		{"not our client", doctor.Listed{Definitions: 97_412}, doctor.OK},
	} {
		t.Run(c.rule, func(t *testing.T) {
			c.l.Client, c.l.Title = "cursor", "Cursor"
			f := doctor.CheckClient(c.l, nil, nil)(t.Context())[0]
			if f.Level != c.level {
				t.Errorf("level = %s, want %s: %+v", f.Level, c.level, f)
			}
			if c.level == doctor.Warn && (!strings.Contains(f.Cause, "97000 tokens of definitions in every request of Cursor") || !strings.Contains(f.Fix, `"cursor*" = { mode = "search" }`)) {
				t.Errorf("%+v", f)
			}
		})
	}
}
