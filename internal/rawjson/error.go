package rawjson

import "fmt"

// A Fault says what is wrong with a document. The zero value is no fault.
type Fault uint8

// The faults. TooDeep and DuplicateName refuse documents that may be valid JSON. So do NotObject,
// NotArray and NotString, when the caller asked for another type. All others mean that the document
// is not JSON.
const (
	_ Fault = iota
	Truncated
	TrailingData
	NoValue
	BadLiteral
	BadNumber
	BadEscape
	ControlChar
	BadUTF8
	NoName
	NoColon
	NoComma
	NotObject
	TooDeep
	DuplicateName
	NotArray
	NotString
)

var faultTexts = [...]string{
	Truncated:     "document ends early",
	TrailingData:  "more data after the document",
	NoValue:       "no JSON value starts here",
	BadLiteral:    "unknown literal",
	BadNumber:     "malformed number",
	BadEscape:     "malformed escape",
	ControlChar:   "control character in a string",
	BadUTF8:       "invalid UTF-8",
	NoName:        "member name expected",
	NoColon:       "colon expected after a member name",
	NoComma:       "comma or closing bracket expected",
	NotObject:     "object expected",
	TooDeep:       "nested too deeply",
	DuplicateName: "member name comes twice in one object",
	NotArray:      "array expected",
	NotString:     "string expected",
}

func (f Fault) String() string {
	if int(f) < len(faultTexts) && faultTexts[f] != "" {
		return faultTexts[f]
	}
	return fmt.Sprintf("fault %d", uint8(f))
}

// IllFormed reports whether the document is not JSON, as opposed to refused JSON.
func (f Fault) IllFormed() bool {
	switch f {
	case 0, TooDeep, DuplicateName, NotObject, NotArray, NotString:
		return false
	}
	return true
}

// A SyntaxError is the only kind of error this package returns. It contains no text of the
// document.
type SyntaxError struct {
	Fault  Fault
	Offset int // offset of the wrong byte, from the start of the document
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s at byte %d", e.Fault, e.Offset)
}
