package rawjson

import "fmt"

// A Fault says what is wrong with a document. The zero value is no fault.
type Fault uint8

// What can be wrong. TooDeep and DuplicateName are refusals of documents that may
// well be JSON, and so is what is NotObject, NotArray or NotString though the caller
// asked for one; all others mean that the document is not.
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

// IllFormed tells whether the document is not JSON, as opposed to JSON that was
// refused.
func (f Fault) IllFormed() bool {
	switch f {
	case 0, TooDeep, DuplicateName, NotObject, NotArray, NotString:
		return false
	}
	return true
}

// A SyntaxError is the only kind of error this package returns. It holds nothing
// of the document's text.
type SyntaxError struct {
	Fault  Fault
	Offset int // of the byte that is wrong, from the start of the document
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s at byte %d", e.Fault, e.Offset)
}
