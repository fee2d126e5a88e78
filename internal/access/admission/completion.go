package admission

import (
	"strconv"
	"strings"

	"secateur/internal/access"
	"secateur/internal/rawjson"
)

// Completion removes values from a completion result that would lead to resources denied to the
// caller. params are those of the request, with the server's own names.
func (c *Control) Completion(p *access.Principal, door access.Door, server string, params, result []byte) []byte {
	if c == nil || !c.rules.DeniesResources(p, door, server) {
		return result
	}
	template := rawjson.GetText(rawjson.Get(params, "ref"), "uri")
	completion := rawjson.Get(result, "completion")
	values := rawjson.Find(completion, "values")
	if template == "" || values.IsZero() {
		return result
	}
	kept, all := []string{}, 0
	for item := range rawjson.Items(values.Of(completion)) {
		all++
		value, ok := rawjson.Text(item)
		if !ok {
			continue
		}
		uri, ok := expand(template, params, value)
		if ok && c.rules.Decide(p, access.Target{Door: door, Server: server, Kind: access.KindResource, Name: uri}).Allowed {
			kept = append(kept, value)
		}
	}
	if len(kept) == all {
		return result
	}
	completion = rawjson.Replace(completion, values, rawjson.AppendTexts(nil, kept))
	if total := string(rawjson.Get(completion, "total")); total == strconv.Itoa(all) {
		completion = rawjson.Set(completion, "total", strconv.AppendInt(nil, int64(len(kept)), 10))
	} else if total != "" {
		completion = rawjson.Remove(completion, "total")
	}
	if len(kept) == 0 {
		completion = rawjson.Remove(completion, "hasMore")
	}
	return rawjson.Set(result, "completion", completion)
}

// expand returns the common prefix of a template's URIs (RFC 6570) if the completed variable has
// this value. It stops at the first variable behind it without a value. It is not ok if an earlier
// variable has no value, or if the template lacks the completed one.
func expand(template string, params []byte, value string) (uri string, ok bool) {
	completed := rawjson.GetText(rawjson.Get(params, "argument"), "name")
	known := rawjson.Get(rawjson.Get(params, "context"), "arguments")
	var b strings.Builder
	for {
		literal, rest, found := strings.Cut(template, "{")
		b.WriteString(literal)
		if !found {
			return b.String(), ok
		}
		expression, after, closed := strings.Cut(rest, "}")
		if !closed {
			return b.String(), ok
		}
		has, missing := addExpression(&b, expression, func(name string) (string, bool) {
			if name == completed {
				return value, true
			}
			return rawjson.Text(rawjson.Get(known, name))
		}, completed)
		ok = ok || has
		if missing {
			return b.String(), ok
		}
		template = after
	}
}

// addExpression appends an expression of a template. has reports whether it contains the wanted
// variable, missing whether one of its variables has no value.
func addExpression(b *strings.Builder, expression string, valueOf func(name string) (string, bool), wanted string) (has, missing bool) {
	operator, between, named := "", ",", false
	if i := strings.IndexAny(expression[:min(1, len(expression))], "+#./;?&"); i == 0 {
		operator, expression = expression[:1], expression[1:]
	}
	switch operator {
	case ".", "/":
		between = operator
	case ";":
		between, named = operator, true
	case "?", "&":
		between, named = "&", true
	case "+":
		operator = ""
	}
	first := true
	for variable := range strings.SplitSeq(expression, ",") {
		name, _, _ := strings.Cut(strings.TrimSuffix(variable, "*"), ":")
		value, ok := valueOf(name)
		has, missing = has || name == wanted, missing || !ok
		if !ok {
			continue
		}
		if first {
			b.WriteString(operator)
		} else {
			b.WriteString(between)
		}
		first = false
		if named {
			b.WriteString(name + "=")
		}
		b.WriteString(value)
	}
	return has, missing
}
