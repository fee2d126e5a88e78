package rawjson

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// unescape reads nothing behind the text: there a page begins that nobody may read.
func TestUnescapingReadsNothingBehindTheText(t *testing.T) {
	needAVX2(t)
	page := unix.Getpagesize()
	pages, err := unix.Mmap(-1, 0, 2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(pages) }()
	if err := unix.Mprotect(pages[page:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	var room [decodedBlock]byte
	for _, piece := range []string{"x", `\n`, `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n`} {
		copy(pages[:page], strings.Repeat(piece, page))
		for length := range 300 {
			text := pages[page-length : page]
			if _, read := unescape(room[:], text); read > length {
				t.Errorf("of %d bytes %d were read", length, read)
			}
		}
	}
}
