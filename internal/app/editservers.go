package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/go-json-experiment/json/jsontext"

	"secateur/internal/config"
	"secateur/internal/config/document"
	"secateur/internal/mcp/upstream"
	"secateur/internal/ops/admin"
	"secateur/internal/ops/clients"
)

// serverEditor changes the servers in the configuration file for the control plane.
type serverEditor struct {
	a  *App
	mu sync.Mutex // held while the file is changed
}

// Add writes another server into the file.
func (e *serverEditor) Add(ctx context.Context, settings jsontext.Value) (string, error) {
	s, err := e.read(settings, "")
	if err != nil {
		return "", err
	}
	return s.ID, e.edit(ctx, func(path string, data []byte, list config.ServerList) ([]byte, error) {
		if slices.ContainsFunc(allServers(e.a.loaded.Load().Settings), func(o upstream.Settings) bool { return o.ID == s.ID }) {
			return nil, admin.NewProblem(http.StatusConflict, admin.CodeInvalidRequest, fmt.Sprintf("a server %q is already there", s.ID), "PUT changes it")
		}
		return list.InsertServer(path, data, s)
	})
}

// Change rewrites a server.
func (e *serverEditor) Change(ctx context.Context, id string, settings jsontext.Value) error {
	s, err := e.read(settings, id)
	if err != nil {
		return err
	}
	return e.edit(ctx, func(path string, data []byte, list config.ServerList) ([]byte, error) {
		return list.ReplaceServer(path, data, s)
	})
}

// Remove deletes a server.
func (e *serverEditor) Remove(ctx context.Context, id string) error {
	return e.edit(ctx, func(path string, data []byte, list config.ServerList) ([]byte, error) {
		return list.RemoveServer(path, data, id)
	})
}

// SetDisabled writes whether a server is disabled. Its other keys and its comments do not change.
func (e *serverEditor) SetDisabled(ctx context.Context, id string, disabled bool) error {
	return e.edit(ctx, func(path string, data []byte, list config.ServerList) ([]byte, error) {
		i := slices.IndexFunc(list.Servers, func(s config.FileServer) bool { return s.ID == id })
		if i < 0 {
			return nil, config.ErrNoServer
		}
		return document.SetFlag(document.FormatOf(path, data), data, list.Servers[i].Place, "disabled", disabled)
	})
}

// read takes a server's keys from a request's body. The id comes from the path and is written
// first.
func (e *serverEditor) read(settings jsontext.Value, id string) (config.FileServer, error) {
	fields, err := config.ReadFields(settings)
	if err != nil {
		return config.FileServer{}, admin.NewProblem(http.StatusBadRequest, admin.CodeInvalidRequest, "the body: "+err.Error(), "write the keys of [[servers]]")
	}
	s := config.FileServer{ID: id}
	for _, f := range fields {
		switch f.Name {
		case "id":
			said, _ := f.Value.(string)
			if said == "" || id != "" && said != id {
				return s, admin.NewProblem(http.StatusBadRequest, admin.CodeInvalidRequest, fmt.Sprintf("id: %q is not the server's", said), "a server keeps its id; add another and remove this one")
			}
			s.ID = said
		case "command":
			if !e.a.loaded.Load().Admin.AllowCommands {
				return s, admin.NewProblem(http.StatusForbidden, admin.CodeCommandsNotAllowed, "the control plane may not have this machine run commands",
					"set allow_commands = true in [admin] of the configuration file, or add it there with 'secateur add'")
			}
			s.Fields = append(s.Fields, f)
		default:
			s.Fields = append(s.Fields, f)
		}
	}
	if s.ID == "" {
		return s, admin.NewProblem(http.StatusBadRequest, admin.CodeInvalidRequest, "id: missing", "")
	}
	if key := config.ReadsEnvironment(s.Fields); key != "" && !e.a.loaded.Load().Admin.AllowCommands {
		return s, admin.NewProblem(http.StatusForbidden, admin.CodeCommandsNotAllowed, key+": the control plane may not send this machine's environment to a server",
			"write the value itself, or $${ for a literal ${; else set allow_commands = true in [admin] of the configuration file, or add the server there with 'secateur add'")
	}
	s.Fields = append([]document.Field{{Name: "id", Value: s.ID}}, s.Fields...)
	return s, nil
}

// edit changes the text of the file, validates and writes it, and reloads it. If anything fails,
// nothing changes.
func (e *serverEditor) edit(ctx context.Context, change func(path string, data []byte, list config.ServerList) ([]byte, error)) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	path := e.a.loaded.Load().Path
	if path == "" || e.a.opt.Load == nil {
		return readOnly("the program runs on its built-in default", "'secateur init' writes a file; start the program with it")
	}
	before, err := clients.Read(path)
	if err != nil {
		return readOnly(err.Error(), "")
	}
	opt := config.Options{Lookup: e.a.lookup, ReadFile: config.ReadFile}
	list, mistakes := config.ReadServers(path, before.Data, opt, nil)
	if len(mistakes) > 0 {
		return (&InvalidConfig{mistakes}).problem()
	}
	after, err := change(path, before.Data, list)
	switch {
	case errors.Is(err, config.ErrNoServer):
		return readOnly("the file does not list this server: it is built in, or was taken over from elsewhere", "")
	case errors.Is(err, document.ErrInline):
		return readOnly(err.Error(), "change it by hand")
	case err != nil:
		return err
	}
	if _, mistakes := config.Load(path, after, opt); len(mistakes) > 0 {
		return (&InvalidConfig{mistakes}).problem()
	}
	keeper := clients.Keeper{StateDir: e.a.opt.StateDir}
	if _, err := keeper.Replace(path, before, clients.Version{Data: after, Exists: true}); err != nil {
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EBUSY) {
			return readOnly(err.Error(), "make it writable, or change it where it comes from")
		}
		return err
	}
	if _, err = e.a.controlReload(ctx, false); err != nil {
		written, readErr := clients.Read(path)
		// Do not leave a file behind that is not in use.
		if readErr == nil && bytes.Equal(written.Data, after) {
			_, readErr = keeper.Replace(path, written, before)
		}
		return errors.Join(err, readErr)
	}
	return nil
}

func readOnly(why, hint string) error {
	return admin.NewProblem(http.StatusConflict, admin.CodeConfigReadOnly, "the configuration cannot be changed: "+why, hint)
}

// lookup finds a variable in the environment that the program was started with.
func (a *App) lookup(name string) (string, bool) {
	for _, entry := range slices.Backward(a.opt.Environ) {
		if key, value, ok := strings.Cut(entry, "="); ok && key == name {
			return value, true
		}
	}
	return "", false
}
