package originals

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"secateur/internal/store/redisdb"
)

// Settings say where originals are kept, how many, and for how long.
type Settings struct {
	// memory:, file:DIR or redis://HOST; "": the opener decides, else memory:
	URL      string        `toml:"url" json:"url"`
	MaxBytes int64         `toml:"max_bytes" json:"max_bytes"` // total room
	WhenFull string        `toml:"when_full" json:"when_full"` // refuse | oldest; "": refuse
	TTL      time.Duration `toml:"ttl_s" json:"ttl_s"`         // life after the last use
	// how long texts sent to a provider are remembered after their last use
	SentTTL time.Duration `toml:"sent_ttl_s" json:"sent_ttl_s"`
	// timeout of Put for each started MiB of a text; 0: none
	PutTimeout time.Duration `toml:"put_timeout_ms" json:"put_timeout_ms"`
}

// Policies of a full store.
const (
	WhenFullRefuse = "refuse" // refuse new originals, so nothing is cut
	WhenFullOldest = "oldest" // evict the least recently used (LRU)
)

const (
	minTTL = time.Millisecond
	maxTTL = 3650 * 24 * time.Hour // keeps expiries within the range of file systems
)

// Default keeps up to 256 MiB: originals for a day after their last use, sent texts for thirty
// days.
func Default() Settings {
	return Settings{MaxBytes: 256 << 20, WhenFull: WhenFullRefuse, TTL: 24 * time.Hour, SentTTL: 30 * 24 * time.Hour, PutTimeout: 250 * time.Millisecond}
}

// Validate reports every mistake.
func (s Settings) Validate() error {
	var errs []error
	if _, err := parseURL(s.URL); err != nil {
		errs = append(errs, fmt.Errorf("url: %w", err))
	}
	if s.MaxBytes <= 0 {
		errs = append(errs, fmt.Errorf("max_bytes: %d is not positive", s.MaxBytes))
	}
	if s.WhenFull != "" && s.WhenFull != WhenFullRefuse && s.WhenFull != WhenFullOldest {
		errs = append(errs, fmt.Errorf("when_full: %q is none of %s, %s", s.WhenFull, WhenFullRefuse, WhenFullOldest))
	}
	errs = append(errs, validateTTL("ttl_s", s.TTL))
	if s.SentTTL != 0 {
		errs = append(errs, validateTTL("sent_ttl_s", s.SentTTL))
	}
	if s.PutTimeout < 0 {
		errs = append(errs, fmt.Errorf("put_timeout_ms: %d is negative", s.PutTimeout.Milliseconds()))
	}
	return errors.Join(errs...)
}

func validateTTL(key string, ttl time.Duration) error {
	if ttl < minTTL || ttl > maxTTL {
		return fmt.Errorf("%s: %v is not between %v and %.0f seconds", key, ttl.Seconds(), minTTL.Seconds(), maxTTL.Seconds())
	}
	return nil
}

// location is a parsed URL: a directory as written, an engine, or neither for memory.
type location struct {
	dir   string
	redis bool
}

// parseURL never repeats the URL in its errors, since it may contain a password.
func parseURL(url string) (location, error) {
	if url == "" {
		return location{}, nil
	}
	scheme, rest, ok := strings.Cut(url, ":")
	if !ok {
		return location{}, errors.New("not a store: use memory:, file:DIR or redis://HOST")
	}
	switch strings.ToLower(scheme) {
	case "memory":
		if strings.Trim(rest, "/") != "" {
			return location{}, errors.New("memory: takes nothing after the colon")
		}
		return location{}, nil
	case "file":
		if after, ok := strings.CutPrefix(rest, "//"); ok {
			// file:///var/x and file://localhost/var/x are the same path. Other hosts are refused.
			rest = strings.TrimPrefix(after, "localhost")
			if !strings.HasPrefix(rest, "/") {
				return location{}, errors.New("file://HOST is not a directory here: use file:DIR or file:///DIR")
			}
			if filepath.VolumeName(rest[1:]) != "" {
				rest = rest[1:] // file:///C:/x
			}
		}
		if rest == "" || strings.ContainsRune(rest, 0) {
			return location{}, errors.New("file: needs a directory: file:DIR")
		}
		if strings.HasPrefix(rest, "~") && rest != "~" && !isSeparator(rest[1]) {
			return location{}, errors.New("only ~ itself stands for a home directory, not ~NAME")
		}
		return location{dir: rest}, nil
	case "redis", "rediss", "unix":
		return location{redis: true}, redisdb.Check(url)
	default:
		return location{}, errors.New("unknown kind of store: use memory:, file:DIR or redis://HOST")
	}
}

// resolve turns the directory into an absolute path: ~ is home, a relative path starts at base.
func (l location) resolve(base, home string) (string, error) {
	dir := l.dir
	if dir == "~" || strings.HasPrefix(dir, "~") {
		if home == "" {
			return "", errors.New("~ in the url, and no home directory is known")
		}
		dir = filepath.Join(home, dir[1:])
	}
	if filepath.IsAbs(dir) {
		return filepath.Clean(dir), nil
	}
	if !filepath.IsAbs(base) {
		return "", fmt.Errorf("directory %s is relative, and no absolute directory to start at is known", dir)
	}
	return filepath.Join(base, dir), nil
}

func isSeparator(c byte) bool { return c == '/' || c == filepath.Separator }
