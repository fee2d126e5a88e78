package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ReadFile reads a file of at most [MaxBytes].
func ReadFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("larger than %d bytes", MaxBytes)
	}
	return data, nil
}

// cause returns the reason of a read error without the file's name, which the problem has already.
func cause(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "no such file"
	}
	if perr, ok := errors.AsType[*fs.PathError](err); ok {
		err = perr.Err
	}
	return err.Error()
}
