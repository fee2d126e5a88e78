package admin

import (
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The parts of an OpenAPI 3.1 document that we use.
type (
	openAPIDocument struct {
		OpenAPI    string                          `json:"openapi"`
		Info       openAPIInfo                     `json:"info"`
		Servers    []openAPIServer                 `json:"servers"`
		Paths      map[string]map[string]openAPIOp `json:"paths"`
		Components openAPIComponents               `json:"components"`
		Security   []map[string][]string           `json:"security"`
	}
	openAPIInfo struct {
		Title       string `json:"title"`
		Version     string `json:"version"`
		Description string `json:"description"`
	}
	openAPIServer struct {
		URL string `json:"url"`
	}
	openAPIComponents struct {
		Schemas  schemas                   `json:"schemas"`
		Security map[string]securityScheme `json:"securitySchemes"`
	}
	securityScheme struct {
		Type   string `json:"type"`
		Scheme string `json:"scheme,omitzero"`
		Name   string `json:"name,omitzero"`
		In     string `json:"in,omitzero"`
	}
	openAPIOp struct {
		OperationID string                     `json:"operationId"`
		Summary     string                     `json:"summary"`
		Parameters  []openAPIParameter         `json:"parameters,omitzero"`
		RequestBody *openAPIBody               `json:"requestBody,omitzero"`
		Responses   map[string]openAPIResponse `json:"responses"`
	}
	openAPIParameter struct {
		Name        string  `json:"name"`
		In          string  `json:"in"`
		Description string  `json:"description,omitzero"`
		Required    bool    `json:"required,omitzero"`
		Schema      *schema `json:"schema"`
	}
	openAPIBody struct {
		Required bool                    `json:"required"`
		Content  map[string]openAPIMedia `json:"content"`
	}
	openAPIResponse struct {
		Description string                   `json:"description"`
		Headers     map[string]openAPIHeader `json:"headers,omitzero"`
		Content     map[string]openAPIMedia  `json:"content,omitzero"`
	}
	openAPIHeader struct {
		Schema *schema `json:"schema"`
	}
	openAPIMedia struct {
		Schema *schema `json:"schema"`
	}
)

const documentVersion = "1" // version of the control plane, also in its base path

// describe returns the OpenAPI document of some operations.
func describe(operations []Operation) ([]byte, error) {
	all := schemas{}
	doc := openAPIDocument{
		OpenAPI: "3.1.0",
		Info: openAPIInfo{
			Title: "secateur control plane", Version: documentVersion,
			Description: "Needs the role admin; without any credential configured it answers on loopback and to the same origin alone. Times are RFC 3339, durations and ages seconds, money dollars.",
		},
		Servers: []openAPIServer{{Base}},
		Paths:   map[string]map[string]openAPIOp{},
		Components: openAPIComponents{Schemas: all, Security: map[string]securityScheme{
			"bearer": {Type: "http", Scheme: "bearer"},
			"token":  {Type: "apiKey", Name: "X-Secateur-Token", In: "header"},
		}},
		Security: []map[string][]string{{"bearer": {}}, {"token": {}}, {}},
	}
	for _, o := range operations {
		if doc.Paths[o.Path] == nil {
			doc.Paths[o.Path] = map[string]openAPIOp{}
		}
		doc.Paths[o.Path][strings.ToLower(o.Method)] = o.describe(all)
	}
	return json.Marshal(doc, json.Deterministic(true), jsontext.WithIndent("  "))
}

func (o Operation) describe(all schemas) openAPIOp {
	op := openAPIOp{OperationID: o.ID, Summary: o.Summary, Responses: map[string]openAPIResponse{
		"default": {Description: "Refused", Content: map[string]openAPIMedia{"application/problem+json": {all.of(reflect.TypeFor[Problem]())}}},
	}}
	for part := range strings.SplitSeq(o.Path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			op.Parameters = append(op.Parameters, openAPIParameter{Name: strings.TrimSuffix(name, "}"), In: "path", Required: true, Schema: &schema{Type: "string"}})
		}
	}
	for _, q := range o.parameters() {
		op.Parameters = append(op.Parameters, openAPIParameter{Name: q.name, In: "query", Description: q.about, Schema: &schema{Type: q.is, Enum: q.among}})
	}
	if o.body != nil {
		op.RequestBody = &openAPIBody{Required: true, Content: map[string]openAPIMedia{"application/json": {all.of(reflect.TypeOf(o.body))}}}
	}
	status := o.status
	if status == 0 {
		status = http.StatusOK
	}
	op.Responses[strconv.Itoa(status)] = o.describeAnswer(all)
	if o.Method == http.MethodGet && !o.stream && o.file == "" {
		op.Parameters = append(op.Parameters, openAPIParameter{Name: "If-None-Match", In: "header", Description: "an ETag: 304 where it still holds", Schema: &schema{Type: "string"}})
		op.Responses["304"] = openAPIResponse{Description: "As before"}
	}
	if o.Method == http.MethodPut || o.Method == http.MethodDelete {
		op.Parameters = append(op.Parameters, openAPIParameter{Name: "If-Match", In: "header", Description: "an ETag: 412 where it does not hold any more", Schema: &schema{Type: "string"}})
	}
	return op
}

func (o Operation) describeAnswer(all schemas) openAPIResponse {
	out := openAPIResponse{Description: "Done"}
	switch {
	case o.stream:
		out.Description = "A stream of events"
		out.Content = map[string]openAPIMedia{"text/event-stream": {&schema{Type: "string"}}}
		return out
	case o.file != "":
		out.Content = map[string]openAPIMedia{o.file: {&schema{Type: "string"}}}
		return out
	case o.answer == nil:
		return out
	}
	shape := all.of(reflect.TypeOf(o.answer))
	if o.isList {
		shape = &schema{
			Type: "object", Required: []string{"items", "next"}, Additional: false,
			Properties: map[string]*schema{"items": {Type: "array", Items: shape}, "next": {Type: []string{"string", "null"}}},
		}
	}
	out.Content = map[string]openAPIMedia{"application/json": {shape}}
	if o.Method == http.MethodGet {
		out.Headers = map[string]openAPIHeader{"ETag": {&schema{Type: "string"}}}
	}
	if o.status == http.StatusCreated {
		out.Headers = map[string]openAPIHeader{"Location": {&schema{Type: "string"}}}
	}
	return out
}
