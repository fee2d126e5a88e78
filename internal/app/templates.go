package app

import (
	"context"
	"errors"
	"net/http"

	"secateur/internal/access"
	"secateur/internal/config"
	"secateur/internal/mcp/templates"
	"secateur/internal/mcp/upstream"
	"secateur/internal/ops/admin"
)

// templateHost manages the program's own resource templates for the control plane. Our own server
// joins the aggregate with the first template and leaves with the last.
type templateHost struct{ a *App }

// ownServer returns the pool settings of the server for the templates. It uses legacy
// subscriptions.
func ownServer() upstream.Settings {
	return upstream.Settings{ID: config.OwnID, Builtin: config.OwnID, Protocol: upstream.ProtocolLegacy}
}

// Templates returns the templates that a caller may see.
func (h templateHost) Templates(p *access.Principal) (all []admin.Template) {
	rules := h.a.live.Load().admission
	for _, t := range h.a.templates.List() {
		if rules.Lists(p, access.Target{Door: access.DoorAdmin, Server: config.OwnID, Kind: access.KindResource, Name: t.URITemplate}) {
			all = append(all, admin.Template(t))
		}
	}
	return all
}

// Create adds a template.
func (h templateHost) Create(_ context.Context, t admin.Template) (admin.Template, error) {
	made, err := h.a.templates.Create(templates.Template(t))
	if err != nil {
		return t, templateProblem(err)
	}
	return admin.Template(made), h.a.joinTemplates()
}

// Replace changes a template.
func (h templateHost) Replace(_ context.Context, t admin.Template) (admin.Template, error) {
	made, err := h.a.templates.Replace(templates.Template(t))
	if err != nil {
		return t, templateProblem(err)
	}
	return admin.Template(made), nil
}

// Delete removes a template.
func (h templateHost) Delete(_ context.Context, name string) error {
	if err := h.a.templates.Delete(name); err != nil {
		return templateProblem(err)
	}
	return h.a.joinTemplates()
}

// joinTemplates adds the templates' server to the aggregate, or removes it if none are left.
func (a *App) joinTemplates() error {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	if (a.templates.Len() > 0) == a.live.Load().hosts {
		return nil
	}
	return a.apply(a.loaded.Load(), nil)
}

// templateProblem turns an error of the book into a problem.
func templateProblem(err error) error {
	invalid, isInvalid := errors.AsType[templates.Invalid](err)
	switch {
	case isInvalid:
		return admin.NewProblem(http.StatusBadRequest, admin.CodeInvalidRequest, invalid.Error(), "")
	case errors.Is(err, templates.ErrNotFound):
		return admin.NewProblem(http.StatusNotFound, admin.CodeInvalidRequest, err.Error(), "")
	case errors.Is(err, templates.ErrExists):
		return admin.NewProblem(http.StatusConflict, admin.CodeInvalidRequest, err.Error(), "PUT changes it")
	case errors.Is(err, templates.ErrSameURI), errors.Is(err, templates.ErrTooMany):
		return admin.NewProblem(http.StatusConflict, admin.CodeInvalidRequest, err.Error(), "delete one first")
	}
	return err
}
