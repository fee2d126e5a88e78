package proxy

import (
	"net/http"

	"secateur/internal/access"
	"secateur/internal/access/admission"
)

// modelTarget is a model as requested and as resolved.
func modelTarget(asked string, to target) access.Target {
	resolved := to.model
	if resolved == "" {
		resolved = asked
	}
	return access.Target{Door: access.DoorChat, Kind: access.KindModel, Name: asked, Also: to.provider.name + "/" + resolved}
}

// ask checks the access to a conversation's model.
func (p *Proxy) ask(w http.ResponseWriter, r *http.Request, who *access.Principal, model string, to target) (admission.Permit, *failure) {
	permit, no := p.opt.Admission.Ask(r.Context(), who, r.URL.Path, modelTarget(model, to))
	if no != nil {
		if no.Limit == nil && no.Rule == "" {
			return permit, p.modelNotFound(model)
		}
		return permit, p.refusedBy(w, no)
	}
	admission.SetHeaders(w.Header(), permit.State())
	return permit, nil
}

// askRoute checks the access to a path that is passed through unread. If rules exist, one must name
// it.
func (p *Proxy) askRoute(w http.ResponseWriter, r *http.Request, who *access.Principal) (admission.Permit, *failure) {
	t := access.Target{Door: access.DoorChat, Kind: access.KindRoute, Name: r.URL.Path}
	if rules := p.opt.Admission.Rules(); rules != nil && (!isPlainPath(r.URL.EscapedPath()) || !rules.Names(who, t)) {
		return admission.Permit{}, noRoute()
	}
	if p.opt.Admission.Rules() == nil && !isModelList(r) { // a rule that names it accepts its cost
		if limit := p.opt.Admission.Budget(who, access.DoorChat); limit != "" {
			return admission.Permit{}, notCounted(limit)
		}
	}
	permit, no := p.opt.Admission.Ask(r.Context(), who, r.Method, t)
	if no != nil {
		if no.Hides() {
			return permit, noRoute()
		}
		return permit, p.refusedBy(w, no)
	}
	admission.SetHeaders(w.Header(), permit.State())
	return permit, nil
}

// isPlainPath reports whether a provider can interpret an escaped path only in the way that rules
// do.
func isPlainPath(escaped string) bool {
	_, ok := access.NormalURI(escaped)
	return ok
}

// maySee reports whether this caller may see a model, as requests of this format resolve it.
func (p *Proxy) maySee(who *access.Principal, r *http.Request, model string) bool {
	to, ok := p.routeIn(formatOf(r), isSignedIn(r), model)
	if !ok {
		return p.opt.Admission.Lists(who, access.Target{Door: access.DoorChat, Kind: access.KindModel, Name: model})
	}
	return p.opt.Admission.Lists(who, modelTarget(model, to))
}

// refusedBy converts a refusal of access control into the provider's error format.
func (p *Proxy) refusedBy(w http.ResponseWriter, no *admission.Refusal) *failure {
	if no.Limit != nil {
		admission.SetHeaders(w.Header(), no.Limit.State)
		f := rateLimited(no.Limit.RetryAfter)
		f.message = "Rate limit exceeded: " + no.Limit.Limit + "."
		return f
	}
	return &failure{
		status: http.StatusForbidden, kind: "permission_error", code: "forbidden", outcome: badRequest, message: "Denied by the rule " + no.Rule + ".",
	}
}

// notCounted refuses a caller with a budget whose request has an unknown cost.
func notCounted(limit string) *failure {
	return &failure{
		status: http.StatusForbidden, kind: "permission_error", code: "not_counted", outcome: badRequest,
		message: "The limit " + limit + " counts what models cost, and cannot tell what this path costs; an [[acl]] rule that allows it as route lets it pass.",
	}
}

func noRoute() *failure {
	return &failure{
		status: http.StatusNotFound, kind: invalidRequest, code: "unknown_url", outcome: badRequest,
		message: "There is nothing at this path.",
	}
}
