package auth_test

import (
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/access"
	"secateur/internal/access/auth"
)

// Open requests end when the credential expires: a JWT, a token, a certificate.
func TestHeldWorkEndsWhenTheCredentialExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := authenticator(t, auth.Options{Settings: auth.Default()})
		soon := &access.Principal{Issuer: "https://id.example", Subject: "alice", Expires: time.Now().Add(time.Hour).Unix()}
		stream, release := a.Hold(t.Context(), soon, nil)
		finished, over := a.Hold(t.Context(), soon, nil)
		endless, done := a.Hold(t.Context(), &access.Principal{Issuer: access.IssuerHMAC, Subject: "robot"}, nil)
		defer done()
		time.Sleep(time.Hour - 2*time.Second)
		if stream.Err() != nil {
			t.Error("the stream ended before its time")
		}
		over()
		time.Sleep(3 * time.Second)
		if stream.Err() == nil {
			t.Error("the stream outlives the JWT")
		}
		if endless.Err() != nil {
			t.Error("a caller whose credential has no end is cut off")
		}
		if finished.Err() == nil {
			t.Error("work that was released goes on")
		}
		release()
	})
}

// A principal carries its credential's expiry, which Hold needs.
func TestPrincipalsKnowTheirEnd(t *testing.T) {
	set := auth.Default()
	ends := time.Now().Add(time.Hour).Truncate(time.Second)
	set.Tokens = []auth.Token{{Name: "ci", Hash: hashOf("ci-token"), Expires: ends}}
	p, _ := authenticator(t, auth.Options{Settings: set}).Authenticate(get("Authorization", "Bearer ci-token"))
	if p == nil || p.Expires != ends.Unix() {
		t.Errorf("%+v, want the end at %d", p, ends.Unix())
	}
}
