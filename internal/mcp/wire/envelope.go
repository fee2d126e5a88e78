package wire

import "secateur/internal/rawjson"

// An envelope is a parsed message whose members have not been validated yet.
type envelope struct {
	Message
	version, id, method []byte // raw members; nil: absent
	errCode, errMessage []byte // members of the error object
	folded              string // a name that equals an envelope member's except for case
	foldedName          bool   // params has such a variant of "name"
}

// read parses the whole document, which must be an object. It records strings of more than moreThan
// characters in result and error.data.
func (e *envelope) read(s *rawjson.Scanner, moreThan int) error {
	err := members(s, func(name string) (err error) {
		switch name {
		case "jsonrpc":
			e.version, err = s.Skip()
		case "id":
			e.id, err = s.Skip()
			e.at[atID] = ending(s, e.id)
		case "method":
			e.method, err = s.Skip()
		case "params":
			e.at[atParams], err = object(s, func(name string) error { return e.readParam(s, name) })
		case "result":
			var value []byte
			value, err = s.SkipNoting(moreThan)
			e.at[atResult] = ending(s, value)
		case "error":
			e.at[atError], err = object(s, func(name string) error { return e.readErrorMember(s, name, moreThan) })
		default:
			if isFolded(name) {
				e.folded = name
			}
			_, err = s.Skip()
		}
		return err
	})
	if err != nil {
		return err
	}
	e.slice()
	return s.End()
}

func (e *envelope) readParam(s *rawjson.Scanner, name string) (err error) {
	if name == "_meta" {
		e.at[atMeta], err = object(s, func(name string) error {
			value, err := s.Skip()
			if name == "progressToken" {
				e.at[atMetaToken] = ending(s, value)
			}
			return err
		})
		return err
	}
	value, err := s.Skip()
	switch name {
	case "name":
		e.Name = stringText(value)
	case "uri":
		e.URI = stringText(value)
	case "taskId":
		e.Task = stringText(value)
	case "progressToken":
		e.at[atProgressToken] = ending(s, value)
	case "requestId":
		e.at[atRequestID] = ending(s, value)
	case "proxy":
		e.at[atProxy] = ending(s, value)
	default:
		e.foldedName = e.foldedName || isNameFolded(name)
	}
	return err
}

func (e *envelope) readErrorMember(s *rawjson.Scanner, name string, moreThan int) (err error) {
	switch name {
	case "code":
		e.errCode, err = s.Skip()
	case "message":
		e.errMessage, err = s.Skip()
	case "data":
		_, err = s.SkipNoting(moreThan)
	default:
		_, err = s.Skip()
	}
	return err
}

// object reads the next value and returns its span. For an object it calls visit for each member;
// it skips any other value.
func object(s *rawjson.Scanner, visit func(name string) error) (rawjson.Span, error) {
	if s.Peek() != '{' {
		value, err := s.Skip()
		return ending(s, value), err
	}
	start := s.Pos()
	err := members(s, visit)
	return rawjson.Span{Start: start, End: s.Pos()}, err
}

// members iterates over the object that comes next. It calls visit with each member's name; visit
// must skip the value.
func members(s *rawjson.Scanner, visit func(name string) error) error {
	if err := s.Enter(); err != nil {
		return err
	}
	for {
		name, err := s.Next()
		if err != nil || name == nil {
			return err
		}
		if err := visit(nameText(name)); err != nil {
			return err
		}
	}
}

// ending returns the span of the value that was just skipped.
func ending(s *rawjson.Scanner, value []byte) rawjson.Span {
	return rawjson.Span{Start: s.Pos() - len(value), End: s.Pos()}
}
