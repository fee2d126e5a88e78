package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"secateur/internal/access"
	"secateur/internal/store/atomicfile"
)

// TokenFile holds the tokens that `secateur token` creates. A running daemon follows its changes.
type TokenFile struct{ Path string }

// tokenFileName is the file's name in the state directory.
const tokenFileName = "tokens.json"

// TokenFileOf returns the token file that the settings name.
func TokenFileOf(s Settings, stateDir string) TokenFile {
	if s.TokenFile != "" {
		return TokenFile{s.TokenFile}
	}
	if stateDir == "" {
		return TokenFile{}
	}
	return TokenFile{filepath.Join(stateDir, tokenFileName)}
}

// TokenPrefix starts every token of ours, so that secret scanners can find leaked ones.
const TokenPrefix = "sct_"

type tokenFileContent struct {
	Tokens []Token `json:"tokens"`
}

// Read lists the tokens. A missing file has none.
func (f TokenFile) Read() ([]Token, error) {
	if f.Path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("token file: %w", err)
	}
	var content tokenFileContent
	if err := json.Unmarshal(data, &content); err != nil {
		return nil, fmt.Errorf("token file %s: %w", f.Path, err)
	}
	return content.Tokens, nil
}

// ErrNoToken means that no token has the given name.
var ErrNoToken = errors.New("no token has this name")

// Add creates a token, stores its hash and returns its text, which is shown only once.
func (f TokenFile) Add(t Token) (text string, made Token, err error) {
	if f.Path == "" {
		return "", t, errors.New("there is no state directory for the token file; set auth.token_file")
	}
	if t.Name == access.TokenHolderName {
		return "", t, fmt.Errorf("the name %q is reserved for the holder of auth_token; choose another name", t.Name)
	}
	have, err := f.Read()
	if err != nil {
		return "", t, err
	}
	if slices.ContainsFunc(have, func(other Token) bool { return other.Name == t.Name }) {
		return "", t, fmt.Errorf("there is a token %q already; revoke it first, or choose another name", t.Name)
	}
	var random [32]byte
	_, _ = rand.Read(random[:]) // it never fails
	text = TokenPrefix + base64.RawURLEncoding.EncodeToString(random[:])
	sum := sha256.Sum256([]byte(text))
	t.Hash = "sha256:" + hex.EncodeToString(sum[:])
	return text, t, f.write(append(have, t))
}

// Revoke removes a token.
func (f TokenFile) Revoke(name string) error {
	have, err := f.Read()
	if err != nil {
		return err
	}
	left := slices.DeleteFunc(slices.Clone(have), func(t Token) bool { return t.Name == name })
	if len(left) == len(have) {
		return ErrNoToken
	}
	return f.write(left)
}

// write replaces the file atomically.
func (f TokenFile) write(all []Token) error {
	data, err := json.MarshalIndent(tokenFileContent{all}, "", "  ")
	if err != nil {
		return err
	}
	if err := atomicfile.Replace(f.Path, append(data, '\n'), true); err != nil {
		return fmt.Errorf("token file: %w", err)
	}
	return nil
}

// mark identifies a state of a file.
type mark struct {
	modified time.Time
	size     int64
	exists   bool
}

func (f TokenFile) mark() mark {
	if f.Path == "" {
		return mark{}
	}
	info, err := os.Stat(f.Path)
	if err != nil {
		return mark{}
	}
	return mark{info.ModTime(), info.Size(), true}
}

// ParseLife parses a token's lifetime: 90s, 15m, 24h or 30d.
func ParseLife(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		hours, err := time.ParseDuration(days + "h")
		if err != nil || hours <= 0 || hours > 1<<62/24 {
			return 0, fmt.Errorf("%q is no duration; write 90s, 15m, 24h or 30d", text)
		}
		return 24 * hours, nil
	}
	life, err := time.ParseDuration(text)
	if err != nil || life <= 0 {
		return 0, fmt.Errorf("%q is no duration; write 90s, 15m, 24h or 30d", text)
	}
	return life, nil
}
