package originals

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"secateur/internal/store/atomicfile"
)

// Key is a store's secret. Ids are HMACs with it, so knowing a text does not reveal its id, or
// whether it was ever cut. The nil Key gives the same ids as the function ID.
type Key []byte

// ID names a tenant's text in the store with this key. It depends on nothing else, so a text is
// always cut to the same bytes.
func (k Key) ID(tenant, text string) string {
	var h hash.Hash
	if k == nil {
		h = sha256.New()
	} else {
		h = hmac.New(sha256.New, k)
	}
	var length [8]byte
	binary.BigEndian.PutUint64(length[:], uint64(len(tenant)))
	h.Write(length[:])
	h.Write(bytesOf(tenant))
	h.Write(bytesOf(text))
	var sum [sha256.Size]byte
	h.Sum(sum[:0])
	return encodeID(sum)
}

// names reports whether an id belongs to this text, with this key or without any.
func (k Key) names(id, tenant, text string) bool {
	return k.ID(tenant, text) == id || k != nil && ID(tenant, text) == id
}

const (
	keyBytes = 32
	keyFile  = "ids.key"
	// content of the key file of a store that existed before keys: its ids stay valid
	keyless = "none"
)

// NewKey returns a random key.
func NewKey() Key {
	key := make(Key, keyBytes)
	_, _ = rand.Read(key) // it never fails
	return key
}

// LoadKey reads the key in a directory, or creates one. A store that has issued ids without a key
// continues without one, so that its ids stay the same.
func LoadKey(dir string, inUse bool) (key Key, made bool, err error) {
	path := filepath.Join(dir, keyFile)
	if key, err = readKey(path); !errors.Is(err, fs.ErrNotExist) {
		return key, false, err
	}
	content := keyless
	if !inUse {
		content = hex.EncodeToString(NewKey())
	}
	if err := writeKey(path, content+"\n"); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, false, fmt.Errorf("key of the store of originals: %w", err)
	}
	key, err = readKey(path) // another process may have been first
	return key, true, err
}

func readKey(path string) (Key, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	text := strings.TrimSpace(string(data))
	if text == keyless {
		return nil, nil
	}
	key, err := hex.DecodeString(text)
	if err != nil || len(key) != keyBytes {
		return nil, fmt.Errorf("key of the store of originals: %s is damaged; restore it, or empty the store with it", path)
	}
	return key, nil
}

// writeKey creates the file atomically, unless it exists.
func writeKey(path, content string) error {
	return atomicfile.Write{
		Folder: filepath.Dir(path), Prefix: tempPrefix, Durable: true,
		Place: func(temp string) error {
			switch err := os.Link(temp, path); {
			case err == nil:
				return os.Remove(temp)
			case errors.Is(err, fs.ErrExist):
				return err
			}
			return os.Rename(temp, path) // a file system without links
		},
	}.Do([]byte(content))
}

// keyOfURL derives the key of a shared store from the password in its URL, which only the replicas
// know. Without a password there is no key.
func keyOfURL(address string) Key {
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return nil
	}
	password, ok := u.User.Password()
	if !ok || password == "" {
		return nil
	}
	mac := hmac.New(sha256.New, []byte(password))
	mac.Write([]byte("secateur: ids of originals"))
	return mac.Sum(nil)
}
