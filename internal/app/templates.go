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

// templateHost keeps the resource templates of the proxy itself for the control plane. With the first of them a server of our own joins the
// aggregate, and with the last it leaves.
type templateHost struct{ a *App }

// ownServer is the server that has the templates, as the pool wants it. It subscribes in the way of the legacy era.
func ownServer() upstream.Settings {
	return upstream.Settings{ID: config.OwnID, Builtin: config.OwnID, Protocol: upstream.ProtocolLegacy}
}

// Templates are those that a caller may have.
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

// Replace changes one.
func (h templateHost) Replace(_ context.Context, t admin.Template) (admin.Template, error) {
	made, err := h.a.templates.Replace(templates.Template(t))
	if err != nil {
		return t, templateProblem(err)
	}
	return admin.Template(made), nil
}

// Delete removes one.
func (h templateHost) Delete(_ context.Context, name string) error {
	if err := h.a.templates.Delete(name); err != nil {
		return templateProblem(err)
	}
	return h.a.joinTemplates()
}

// joinTemplates has the server of the templates in the aggregate if there are any.
func (a *App) joinTemplates() error {
	a.reloading.Lock()
	defer a.reloading.Unlock()
	if (a.templates.Len() > 0) == a.live.Load().hosts {
		return nil
	}
	return a.apply(a.loaded.Load(), nil)
}

// templateProblem is the refusal of what a book refuses.
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
