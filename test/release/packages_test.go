package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// lacks ends a test for which a program is missing.
func lacks(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("%s is not installed", program)
		}
		t.Skipf("%s is not installed", program)
	}
}

// program is a stand-in for the binary.
const program = "#!/bin/sh\necho ran \"$@\"\nexit 3\n"

func linuxFiles() []entry {
	return []entry{{name: "LICENSE", mode: 0o644, content: []byte("free")}, {name: "man/secateur.1", mode: 0o644, content: []byte("page")}, {name: "secateur", mode: 0o755, content: []byte(program)}}
}

func TestDebianInstallsTheProgramAndItsPages(t *testing.T) {
	lacks(t, "dpkg-deb")
	a, content, err := deb(from, system{"linux", "amd64"}, linuxFiles())
	if err != nil {
		t.Fatal(err)
	}
	if _, again, _ := deb(from, system{"linux", "amd64"}, linuxFiles()); !bytes.Equal(content, again) {
		t.Error("the same files give other bytes")
	}
	file := filepath.Join(t.TempDir(), a.name)
	if err := write(file, content); err != nil {
		t.Fatal(err)
	}
	said, err := exec.Command("dpkg-deb", "--field", file, "Package", "Version", "Architecture").CombinedOutput()
	if want := "Package: secateur\nVersion: 1.2.3\nArchitecture: amd64\n"; err != nil || string(said) != want {
		t.Errorf("%v: %s", err, said)
	}
	to := t.TempDir()
	if said, err := exec.Command("dpkg-deb", "--extract", file, to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	for name, mode := range map[string]os.FileMode{"usr/bin/secateur": 0o755, "usr/share/man/man1/secateur.1": 0o644, "usr/share/doc/secateur/LICENSE": 0o644} {
		if info, err := os.Stat(filepath.Join(to, name)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

func TestNpmRunsTheBinaryOfItsSystem(t *testing.T) {
	lacks(t, "node")
	lacks(t, "tar")
	said, err := exec.Command("node", "-p", "process.platform + ' ' + process.arch").Output()
	if err != nil {
		t.Fatal(err)
	}
	here, found := system{}, false
	for _, s := range systems {
		if npmSystems[s.os]+" "+npmSystems[s.arch] == strings.TrimSpace(string(said)) {
			here, found = s, true
		}
	}
	if !found || here.os == "windows" {
		t.Skipf("no binary is built for %s, or it cannot be played by a script", said)
	}
	platform, binary, err := npmPlatform(from, here, linuxFiles())
	if err != nil {
		t.Fatal(err)
	}
	wrapper, launcher, err := npmWrapper(from, []artifact{{system: here}})
	if err != nil {
		t.Fatal(err)
	}
	modules := filepath.Join(t.TempDir(), "node_modules")
	for name, content := range map[string][]byte{here.npmName(): binary, "secateur": launcher} {
		to := filepath.Join(modules, name)
		if err := os.MkdirAll(to, 0o700); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("tar", "xz", "--strip-components=1", "-C", to)
		cmd.Stdin = bytes.NewReader(content)
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
	}
	var manifest struct {
		Optional map[string]string `json:"optionalDependencies"`
	}
	text, err := os.ReadFile(filepath.Join(modules, "secateur", "package.json"))
	if err != nil || json.Unmarshal(text, &manifest) != nil || manifest.Optional[here.npmName()] != "1.2.3" {
		t.Errorf("%v: %s", err, text)
	}
	cmd := exec.Command(filepath.Join(modules, "secateur", "secateur.js"), "a b", "c")
	out, err := cmd.CombinedOutput()
	if string(out) != "ran a b c\n" || cmd.ProcessState.ExitCode() != 3 {
		t.Errorf("%v: %s", err, out)
	}
	if platform.name != here.npmName()+"-1.2.3.tgz" || wrapper.name != "secateur-1.2.3.tgz" {
		t.Errorf("%s, %s", platform.name, wrapper.name)
	}
	if err := os.RemoveAll(filepath.Join(modules, here.npmName())); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(filepath.Join(modules, "secateur", "secateur.js")).CombinedOutput(); err == nil || !strings.Contains(string(out), "is not installed") {
		t.Errorf("without its package: %v: %s", err, out)
	}
}

func TestManifestsForWindowsNameTheArchives(t *testing.T) {
	made := []artifact{{name: "w.zip", system: system{"windows", "amd64"}, sum: [32]byte{1}}, {name: "a.zip", system: system{"windows", "arm64"}, sum: [32]byte{2}}, {name: "l.tar.gz", system: system{"linux", "amd64"}}}
	bucket, err := scoop("1.2.3", "https://example.org/v", made)
	if err != nil || !json.Valid(bucket) {
		t.Fatalf("%v: %s", err, bucket)
	}
	installer := string(winget("1.2.3", "https://example.org/v", made)["Secateur.Secateur.installer.yaml"])
	for _, a := range made[:2] {
		if !strings.Contains(string(bucket), fmt.Sprintf("https://example.org/v/%s\",\n      \"hash\": \"%x\"", a.name, a.sum)) {
			t.Errorf("Scoop lacks %s: %s", a.name, bucket)
		}
		if !strings.Contains(installer, fmt.Sprintf("/%s\n  InstallerSha256: %X\n", a.name, a.sum)) {
			t.Errorf("winget lacks %s: %s", a.name, installer)
		}
	}
	if strings.Contains(installer+string(bucket), "l.tar.gz") {
		t.Error("Windows is given an archive for Linux")
	}
}
