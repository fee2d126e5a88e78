package doctor

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"secateur/internal/mcp/child"
)

// CheckCommand looks for a server's program in the PATH of its process.
func CheckCommand(server, program string, environ []string) Check {
	return func(context.Context) []Finding {
		f := Finding{Check: Command, Subject: server, Level: OK}
		path, err := child.LookPath(program, environ)
		if err == nil {
			_, err = os.Stat(path)
		}
		if err != nil {
			f.Level, f.Cause, f.Fix = Fail, err.Error(), "install it, or write its full path into command of the server "+server
			return []Finding{f}
		}
		f.Cause = path
		return []Finding{f}
	}
}

// CheckPort tries to listen on an address. ours reports whether this program already listens there.
func CheckPort(address string, ours func(ctx context.Context) bool) Check {
	return func(ctx context.Context) []Finding {
		f := Finding{Check: Port, Subject: address, Level: OK, Cause: "free"}
		ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
		switch {
		case err == nil:
			_ = ln.Close()
		case errors.Is(err, syscall.EADDRINUSE) && ours(ctx):
			f.Cause = "a secateur listens there"
		case errors.Is(err, syscall.EADDRINUSE):
			f.Level, f.Cause, f.Fix = Fail, "another program has this port", "stop it, or choose another with listen or --listen"
		default:
			f.Level, f.Cause, f.Fix = Fail, err.Error(), "choose an address of this machine and a port above 1023 with listen or --listen"
		}
		return []Finding{f}
	}
}

// soon is the remaining life at which a certificate should be renewed.
const soon = 14 * 24 * time.Hour

// CheckCertificate checks the dates of a certificate file.
func CheckCertificate(file string, now time.Time) Check {
	return func(context.Context) []Finding {
		f := Finding{Check: Certificate, Subject: file, Level: OK}
		cert, err := readCertificate(file)
		if err != nil {
			f.Level, f.Cause, f.Fix = Fail, err.Error(), "write a PEM file with a certificate, or correct its name in [tls]"
			return []Finding{f}
		}
		switch {
		case now.Before(cert.NotBefore):
			f.Level, f.Cause, f.Fix = Fail, "not valid before "+cert.NotBefore.Format(time.RFC3339), "set the clock, or issue it again"
		case now.After(cert.NotAfter):
			f.Level, f.Cause, f.Fix = Fail, "expired on "+cert.NotAfter.Format(time.RFC3339), "renew it; the running program reads the file again"
		case cert.NotAfter.Sub(now) < soon:
			f.Level, f.Cause, f.Fix = Warn, "expires on "+cert.NotAfter.Format(time.RFC3339), "renew it; the running program reads the file again"
		default:
			f.Cause = "valid until " + cert.NotAfter.Format(time.RFC3339)
		}
		return []Finding{f}
	}
}

func readCertificate(file string) (*x509.Certificate, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" {
			return x509.ParseCertificate(block.Bytes)
		}
	}
	return nil, fmt.Errorf("there is no certificate in %s", file)
}
