package hook

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"

	"secateur/internal/access"
	"secateur/internal/access/admission"
)

// Path is where the events of Claude Code are posted.
const Path = "/hooks/claude-code"

// Server answers events over HTTP.
type Server struct {
	Hook      *Hook // nil: nothing is ever cut
	Admission *admission.Control
	MaxBytes  int64 // of an event
	Log       *slog.Logger
}

// Serve answers a principal's event. No content means that the client goes on with what its tool said.
func (s *Server) Serve(w http.ResponseWriter, r *http.Request, p *access.Principal) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "POST an event of Claude Code here", http.StatusMethodNotAllowed)
		return
	}
	entry, over := s.Admission.Enter(r.Context(), p, access.DoorChat)
	if over != nil {
		refuse(w, over)
		return
	}
	defer entry.Leave()
	permit, no := s.Admission.Ask(r.Context(), p, r.Method, access.Target{Door: access.DoorChat, Kind: access.KindRoute, Name: Path})
	if no != nil {
		refuse(w, no)
		return
	}
	event, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.MaxBytes))
	if err != nil {
		http.Error(w, "the event was not read: "+err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	var answer []byte
	defer func() { permit.Done(len(event), len(answer)) }()
	if s.Hook != nil {
		answer, err = s.Hook.Answer(r.Context(), Caller{Tenant: p.Owner(), Local: isLocal(r.RemoteAddr)}, event)
	}
	if err != nil {
		s.Log.WarnContext(r.Context(), "hook: the result passes whole", "err", err)
	}
	if len(answer) == 0 {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(answer)
}

func refuse(w http.ResponseWriter, no *admission.Refusal) {
	if no.Limit != nil {
		admission.SetHeaders(w.Header(), no.Limit.State)
		http.Error(w, "rate limit exceeded: "+no.Limit.Limit, http.StatusTooManyRequests)
		return
	}
	http.Error(w, "there is nothing at this path", http.StatusNotFound)
}

// isLocal tells whether a caller is on this machine, so that the files that it names are those of this machine. Callers over a socket of ours
// have no address.
func isLocal(remote string) bool {
	if remote == "" || remote == "@" {
		return true
	}
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		return false
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
