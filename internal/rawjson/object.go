package rawjson

import "strconv"

// An Object is an object being written, or its members without braces. Members get a comma if
// necessary. Begin and End write nested objects; the caller writes the outermost braces.
//
//	o := rawjson.Object{'{'}
//	o.Text("name", name)
//	o.Begin("_meta")
//	o.Raw("progressToken", token)
//	o.End()
//	return append(o, '}')
type Object []byte

// Name adds a member's name. The caller appends its value next.
func (o *Object) Name(name string) {
	if n := len(*o); n > 0 && (*o)[n-1] != '{' {
		*o = append(*o, ',')
	}
	*o = append(AppendQuoted(*o, name), ':')
}

// Raw adds a member whose value is already JSON.
func (o *Object) Raw(name string, value []byte) {
	o.Name(name)
	*o = append(*o, value...)
}

// Text adds a string.
func (o *Object) Text(name, text string) {
	o.Name(name)
	*o = AppendQuoted(*o, text)
}

// Texts adds an array of strings.
func (o *Object) Texts(name string, texts []string) {
	o.Name(name)
	*o = AppendTexts(*o, texts)
}

// Int adds a number.
func (o *Object) Int(name string, n int64) {
	o.Name(name)
	*o = strconv.AppendInt(*o, n, 10)
}

// Bool adds true or false.
func (o *Object) Bool(name string, b bool) {
	o.Name(name)
	*o = strconv.AppendBool(*o, b)
}

// Begin adds an object, whose members come next.
func (o *Object) Begin(name string) {
	o.Name(name)
	*o = append(*o, '{')
}

// End closes the object begun last.
func (o *Object) End() { *o = append(*o, '}') }

// AppendTexts appends an array of strings.
func AppendTexts(dst []byte, texts []string) []byte {
	dst = append(dst, '[')
	for i, text := range texts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendQuoted(dst, text)
	}
	return append(dst, ']')
}
