package app

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// recoverCommand returns the command that a model on this machine runs to recover a cut text. It
// names the configuration, for the store and the token, and the address unless that is the default.
func (gen *generation) recoverCommand() string {
	address := gen.App.cfg.Listen
	if bound := gen.addr.Load(); bound != nil {
		address = *bound
	}
	if gen.cfg.TLS.Cert != "" {
		address = "" // the configuration has it, with the certificate
	}
	return RecoverCommand(gen.opt.Config.Path, address)
}

// RecoverCommand is 'secateur recover' as a shell on this machine finds it, for a configuration file ("": none) and a program that
// listens on an address ("": none, the store is asked).
func RecoverCommand(config, address string) string {
	program := "secateur"
	if _, err := exec.LookPath(program); err != nil {
		if path, err := os.Executable(); err == nil {
			program = path
		}
	}
	return recoverCommand(program, config, address)
}

// builtInAddress is where 'secateur recover' looks for a running program by default.
const builtInAddress = "127.0.0.1:8000"

func recoverCommand(program, config, address string) string {
	words := []string{ShellWord(program), "recover"}
	if config != "" {
		if abs, err := filepath.Abs(config); err == nil {
			config = abs
		}
		words = append(words, "--config", ShellWord(config))
	}
	host, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		host = "127.0.0.1"
	}
	if at := net.JoinHostPort(host, port); err == nil && at != builtInAddress {
		words = append(words, "--url", "http://"+at)
	}
	return strings.Join(words, " ")
}

// HookCommand is 'secateur hook claude-code' as a client's settings name it, for a configuration file ("": none).
func HookCommand(program, config string) string {
	words := ShellWord(program) + " hook claude-code"
	if config != "" {
		words += " --config " + ShellWord(config)
	}
	return words
}

// ShellWord is a word as a shell reads it.
func ShellWord(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_./:@%+=,", r)
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
