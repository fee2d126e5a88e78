package admin

import (
	"context"
	"net/http"
	"net/url"

	"secateur/internal/access"
)

// Template is a resource template that the proxy hosts.
type Template struct {
	Name        string `json:"name"`
	URITemplate string `json:"uri_template"`
	MIMEType    string `json:"mime_type"`
	Text        string `json:"text"`
}

// TemplateBody is a template in a request.
type TemplateBody struct {
	Name        string `json:"name,omitzero"` // in PUT, the path names it
	URITemplate string `json:"uri_template"`
	MIMEType    string `json:"mime_type,omitzero"` // "": text/plain
	Text        string `json:"text"`
}

// TemplateHost keeps the templates. Its methods return a *Problem to refuse.
type TemplateHost interface {
	Templates(p *access.Principal) []Template // templates that the caller may use
	Create(ctx context.Context, t Template) (Template, error)
	Replace(ctx context.Context, t Template) (Template, error)
	Delete(ctx context.Context, name string) error
}

func (a *API) templates() Operation {
	return Operation{
		ID: "listTemplates", Method: http.MethodGet, Path: "/templates", Summary: "Resource templates that the proxy hosts", answer: Template{}, isList: true,
		do: func(r *http.Request, p *access.Principal) (any, error) {
			return page(r, a.opt.Templates.Templates(p), func(t Template) string { return t.Name })
		},
	}
}

func (a *API) template() Operation {
	return Operation{
		ID: "getTemplate", Method: http.MethodGet, Path: "/templates/{name}", Summary: "One of them", answer: Template{},
		do: func(r *http.Request, p *access.Principal) (any, error) { return a.findTemplate(r, p) },
	}
}

func (a *API) createTemplate() Operation {
	return Operation{
		ID: "createTemplate", Method: http.MethodPost, Path: "/templates", Summary: "Host one more resource template; clients hear that the list has changed",
		body: TemplateBody{}, answer: Template{}, status: http.StatusCreated,
		do: func(r *http.Request, _ *access.Principal) (any, error) {
			body, err := readBody[TemplateBody](r)
			if err != nil {
				return nil, err
			}
			t, err := a.opt.Templates.Create(r.Context(), Template(body))
			return located{Base + "/templates/" + url.PathEscape(t.Name), t}, err
		},
	}
}

func (a *API) replaceTemplate() Operation {
	return Operation{
		ID: "replaceTemplate", Method: http.MethodPut, Path: "/templates/{name}", Summary: "Change a resource template; subscribers hear that it was updated",
		body: TemplateBody{}, answer: Template{},
		do: func(r *http.Request, p *access.Principal) (any, error) {
			body, err := readBody[TemplateBody](r)
			if err != nil {
				return nil, err
			}
			t, err := a.findTemplate(r, p)
			if err == nil {
				err = matches(r, t)
			}
			if err == nil && body.Name != "" && body.Name != t.Name {
				err = NewProblem(http.StatusBadRequest, CodeInvalidRequest, "name: "+quoted(body.Name)+" is not the template's", "a template keeps its name; create another and delete this one")
			}
			if err != nil {
				return nil, err
			}
			body.Name = t.Name
			return a.opt.Templates.Replace(r.Context(), Template(body))
		},
	}
}

func (a *API) deleteTemplate() Operation {
	return Operation{
		ID: "deleteTemplate", Method: http.MethodDelete, Path: "/templates/{name}", Summary: "Host a resource template no more", status: http.StatusNoContent,
		do: func(r *http.Request, p *access.Principal) (any, error) {
			t, err := a.findTemplate(r, p)
			if err == nil {
				err = matches(r, t)
			}
			if err == nil {
				err = a.opt.Templates.Delete(r.Context(), t.Name)
			}
			return nil, err
		},
	}
}

// findTemplate returns the template named in a path, if it exists and the caller may use it.
func (a *API) findTemplate(r *http.Request, p *access.Principal) (Template, error) {
	name := r.PathValue("name")
	for _, t := range a.opt.Templates.Templates(p) {
		if t.Name == name {
			return t, nil
		}
	}
	return Template{}, NewProblem(http.StatusNotFound, CodeInvalidRequest, "there is no template "+quoted(name), "GET "+Base+"/templates lists them")
}
