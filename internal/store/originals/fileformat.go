package originals

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"time"

	"github.com/klauspost/compress/zstd"
)

// A file is a fixed-size header and the text, compressed if that makes it smaller. All numbers are
// big-endian.
//
//	 0  magic        4
//	 4  version      1
//	 5  compression  1   0: none, 1: zstd
//	 6  reserved     2   zero
//	 8  tenant       8   hash of the tenant, to recognize another tenant's file by its header
//	16  text length  8
//	24  body length  8
//	32  body sum     4   CRC-32C
//	36  header sum   4   CRC-32C of all above
//
// A trailer after the text holds the expiry, which changes with every use (since version 2):
//
//	0  moment       8   nanoseconds since 1970
//	8  sum          4   CRC-32C of it
//
// The file's mtime holds the expiry too, so that listing a directory shows what has expired. If
// they differ, because the file was copied, the trailer counts.
const (
	fileMagic   = "scto"
	fileVersion = 2
	headerSize  = 40
	trailerSize = 12

	bodyPlain = 0
	bodyZstd  = 1

	// Smaller texts gain nothing: a file takes a disk block anyway.
	minCompress = 1024
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Errors for a file that is not the requested original.
var (
	errCorrupt     = errors.New("damaged file")
	errOtherTenant = errors.New("another tenant's file")
	errNewer       = errors.New("file of a newer version")
)

// codec encodes a text as a file and back. It is safe for concurrent use.
type codec struct {
	enc *zstd.Encoder
	dec *zstd.Decoder
	key Key // for ids
}

func newCodec() (codec, error) {
	// Our header's checksums replace zstd's own. Concurrency 0 means one worker per processor.
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false),
		zstd.WithEncoderConcurrency(0), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return codec{}, fmt.Errorf("make compressor: %w", err)
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		return codec{}, fmt.Errorf("make decompressor: %w", err)
	}
	return codec{enc: enc, dec: dec}, nil
}

func (c codec) close() error {
	c.dec.Close()
	return c.enc.Close()
}

// encode appends the file for a tenant's text to dst, which must be empty. The original expires at
// until.
func (c codec) encode(dst []byte, tenant, text string, until time.Time) []byte {
	dst = append(dst, make([]byte, headerSize)...)
	compression := byte(bodyPlain)
	if len(text) >= minCompress {
		dst = c.enc.EncodeAll(bytesOf(text), dst)
		compression = bodyZstd
	}
	if compression == bodyPlain || len(dst)-headerSize >= len(text) {
		dst = append(dst[:headerSize], text...)
		compression = bodyPlain
	}
	head, body := dst[:headerSize], dst[headerSize:]
	copy(head, fileMagic)
	head[4] = fileVersion
	head[5] = compression
	tag := tenantTag(tenant)
	copy(head[8:], tag[:])
	binary.BigEndian.PutUint64(head[16:], uint64(len(text)))
	binary.BigEndian.PutUint64(head[24:], uint64(len(body)))
	binary.BigEndian.PutUint32(head[32:], crc32.Checksum(body, castagnoli))
	binary.BigEndian.PutUint32(head[36:], crc32.Checksum(head[:36], castagnoli))
	return append(dst, trailer(until)...)
}

// trailer encodes the expiry.
func trailer(until time.Time) []byte {
	b := make([]byte, trailerSize)
	binary.BigEndian.PutUint64(b, uint64(until.UnixNano()))
	binary.BigEndian.PutUint32(b[8:], crc32.Checksum(b[:8], castagnoli))
	return b
}

// readTrailer decodes the expiry; false: damaged.
func readTrailer(b []byte) (time.Time, bool) {
	if len(b) != trailerSize || crc32.Checksum(b[:8], castagnoli) != binary.BigEndian.Uint32(b[8:]) {
		return time.Time{}, false
	}
	return time.Unix(0, int64(binary.BigEndian.Uint64(b))), true //nolint:gosec // as above
}

// behind returns the size of the trailer, by the file's header.
func behind(head []byte) int64 {
	if head[4] < 2 {
		return 0
	}
	return trailerSize
}

// checkHeader checks by header and size whether a file is complete and belongs to the tenant.
func checkHeader(head []byte, size int64, tenant string) error {
	if len(head) < headerSize {
		return fmt.Errorf("%w: cut off within its header", errCorrupt)
	}
	head = head[:headerSize]
	if crc32.Checksum(head[:36], castagnoli) != binary.BigEndian.Uint32(head[36:]) || string(head[:4]) != fileMagic {
		return fmt.Errorf("%w: header does not match its sum", errCorrupt)
	}
	if head[4] > fileVersion {
		return errNewer
	}
	if tag := tenantTag(tenant); !bytes.Equal(head[8:16], tag[:]) {
		return errOtherTenant
	}
	if body := binary.BigEndian.Uint64(head[24:]); size < headerSize+behind(head) || body != uint64(size-headerSize-behind(head)) { //nolint:gosec // not negative, see before
		return fmt.Errorf("%w: cut off or continued", errCorrupt)
	}
	return nil
}

// checkSums checks a whole file without decompressing it. That is cheap, and enough to rely on an
// existing file.
func checkSums(file []byte, tenant string) error {
	if err := checkHeader(file, int64(len(file)), tenant); err != nil {
		return err
	}
	if crc32.Checksum(bodyOf(file), castagnoli) != binary.BigEndian.Uint32(file[32:]) {
		return fmt.Errorf("%w: content does not match its sum", errCorrupt)
	}
	return nil
}

// bodyOf returns the encoded text of a file with a valid header.
func bodyOf(file []byte) []byte { return file[headerSize : int64(len(file))-behind(file)] }

// decode returns the text in a file. Finally the id decides whether it is the right one.
func (c codec) decode(file []byte, tenant, id string) (string, error) {
	if err := checkSums(file, tenant); err != nil {
		return "", err
	}
	length, body := binary.BigEndian.Uint64(file[16:]), bodyOf(file)
	if length > math.MaxInt {
		return "", fmt.Errorf("%w: impossible length", errCorrupt)
	}
	var text string
	switch file[5] {
	case bodyPlain:
		text = stringOf(body)
	case bodyZstd:
		plain, err := c.dec.DecodeAll(body, make([]byte, 0, length))
		if err != nil {
			return "", fmt.Errorf("%w: %w", errCorrupt, err)
		}
		text = stringOf(plain)
	default:
		return "", fmt.Errorf("%w: unknown compression", errCorrupt)
	}
	if uint64(len(text)) != length || !c.key.names(id, tenant, text) {
		return "", fmt.Errorf("%w: text does not match its id", errCorrupt)
	}
	return text, nil
}

func tenantTag(tenant string) (tag [8]byte) {
	sum := sha256.Sum256(bytesOf(tenant))
	copy(tag[:], sum[:])
	return tag
}
