package lane

import (
	"strings"
	"testing"
)

func TestIsUsual(t *testing.T) {
	const begin, end = "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n", "\r\n{}"
	usual := map[string]string{
		"as Go sends it":        call("{}"),
		"without a body":        "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
		"before its body":       begin + "\r\n",
		"with a query":          "POST /mcp?separator=__&max_length=64 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n" + end,
		"to an address":         "POST / HTTP/1.1\r\nHost: [::1]:8931\r\nContent-Length: 2\r\n" + end,
		"as browsers name it":   "POST / HTTP/1.1\r\nhost:x\r\ncontent-length:\t2 \r\nconnection: Keep-Alive\r\n" + end,
		"with fields of a call": begin + "Mcp-Session-Id: abc\r\nAuthorization: Bearer \"a\tb\"\r\nAccept: */*\r\nX:\r\n" + end,
		"as long as may be":     "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 65536\r\n\r\n",
		"with one behind it":    call("{}") + call("{}"),
	}
	for rule, request := range usual {
		if !isUsual([]byte(request)) {
			t.Errorf("%s: not usual: %q", rule, request)
		}
	}
	unusual := map[string]string{
		"nothing":                       "",
		"half a line":                   "POST /mcp HT",
		"half a header":                 begin,
		"half a header's last line":     begin + "\r",
		"GET":                           "GET /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.0":                      "POST /mcp HTTP/1.0\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
		"HTTP/2":                        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"a whole URL":                   "POST http://x/mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
		"a space in the path":           "POST /m cp HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
		"a byte above ASCII":            "POST /\xc3\xa9 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
		"no host":                       "POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
		"two hosts":                     begin + "Host: y\r\n" + end,
		"an empty host":                 "POST / HTTP/1.1\r\nHost:\r\nContent-Length: 0\r\n\r\n",
		"a host that is a URL":          "POST / HTTP/1.1\r\nHost: a/b\r\nContent-Length: 0\r\n\r\n",
		"no length":                     "POST / HTTP/1.1\r\nHost: x\r\n\r\n",
		"two lengths":                   begin + "Content-Length: 2\r\n" + end,
		"a length with a sign":          "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +2\r\n" + end,
		"a length in a list":            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2, 2\r\n" + end,
		"an empty length":               "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: \r\n" + end,
		"a large body":                  "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 65537\r\n" + end,
		"a length beyond all numbers":   "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n" + end,
		"chunks":                        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
		"chunks and a length":           begin + "Transfer-Encoding: chunked\r\n" + end,
		"chunks, in other letters":      begin + "transfer-ENCODING: chunked\r\n" + end,
		"a space before the colon":      begin + "X : y\r\n" + end,
		"a line that goes on":           begin + "X: y\r\n z\r\n" + end,
		"a line without a name":         begin + ": y\r\n" + end,
		"a line without a colon":        begin + "X\r\n" + end,
		"a line that ends with LF":      begin + "X: y\n" + end,
		"a CR in a value":               begin + "X: y\rz\r\n" + end,
		"a zero byte in a value":        begin + "X: y\x00z\r\n" + end,
		"a byte above ASCII in a value": begin + "X: \xff\r\n" + end,
		"100-continue":                  begin + "Expect: 100-continue\r\n" + end,
		"an upgrade":                    begin + "Connection: Upgrade\r\nUpgrade: websocket\r\n" + end,
		"a last request":                begin + "Connection: close\r\n" + end,
		"two words for the connection":  begin + "Connection: keep-alive, close\r\n" + end,
		"trailers":                      begin + "Trailer: X\r\n" + end,
		"a blank line first":            "\r\n" + call("{}"),
		"a header that is too long":     begin + "X: " + strings.Repeat("y", headBytes),
	}
	for rule, request := range unusual {
		if isUsual([]byte(request)) {
			t.Errorf("%s: usual: %q", rule, request)
		}
	}
}
