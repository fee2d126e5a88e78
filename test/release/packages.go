package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// about is what package managers tell of the program.
const about = "Prunes what fills a coding agent's context window, recoverably"

// npmSystems are what npm calls the systems.
var npmSystems = map[string]string{"linux": "linux", "darwin": "darwin", "windows": "win32", "amd64": "x64", "arm64": "arm64"}

func (s system) npmName() string { return "secateur-" + npmSystems[s.os] + "-" + npmSystems[s.arch] }

// npmPlatform is the npm package that has the binary for one system. npm installs it on that system alone.
func npmPlatform(from source, s system, files []entry) (artifact, []byte, error) {
	manifest, err := json.MarshalIndent(map[string]any{
		"name": s.npmName(), "version": from.version, "description": about + ": the binary for " + s.os + "/" + s.arch, "license": "Apache-2.0",
		"os": []string{npmSystems[s.os]}, "cpu": []string{npmSystems[s.arch]}, "preferUnplugged": true,
	}, "", "  ")
	if err != nil {
		return artifact{}, nil, err
	}
	packed := []entry{{name: "package/package.json", mode: 0o644, content: append(manifest, '\n')}}
	for _, f := range files {
		if f.name == s.binary() || slices.Contains(notices, f.name) {
			packed = append(packed, entry{name: "package/" + f.name, mode: f.mode, content: f.content})
		}
	}
	content, err := packTar(packed, from.time)
	return artifact{name: fmt.Sprintf("%s-%s.tgz", s.npmName(), from.version)}, content, err
}

// notices go with every binary.
var notices = []string{"LICENSE", "NOTICE", "THIRD_PARTY_NOTICES"}

// npmLauncher finds the binary of the package for this system and runs it in its place.
const npmLauncher = `#!/usr/bin/env node
"use strict";
const { spawnSync } = require("node:child_process");
const name = "secateur-" + process.platform + "-" + process.arch;
let binary;
try {
  binary = require.resolve(name + "/secateur" + (process.platform === "win32" ? ".exe" : ""));
} catch {
  console.error("secateur: the package " + name + " is not installed; install again without --no-optional, or there is none for this system");
  process.exit(1);
}
const ended = spawnSync(binary, process.argv.slice(2), { stdio: "inherit" });
if (ended.error) {
  console.error("secateur: " + ended.error.message);
  process.exit(1);
}
process.exit(ended.status === null ? 1 : ended.status);
`

// npmWrapper is the npm package that people install. It downloads nothing: npm chooses the package for the system.
func npmWrapper(from source, made []artifact) (artifact, []byte, error) {
	optional := map[string]string{}
	for _, a := range made {
		if a.system != (system{}) {
			optional[a.system.npmName()] = from.version
		}
	}
	manifest, err := json.MarshalIndent(map[string]any{
		"name": "secateur", "version": from.version, "description": about, "license": "Apache-2.0", "bin": map[string]string{"secateur": "secateur.js"},
		"optionalDependencies": optional, "engines": map[string]string{"node": ">=18"},
	}, "", "  ")
	if err != nil {
		return artifact{}, nil, err
	}
	content, err := packTar([]entry{
		{name: "package/package.json", mode: 0o644, content: append(manifest, '\n')}, {name: "package/secateur.js", mode: 0o755, content: []byte(npmLauncher)},
	}, from.time)
	return artifact{name: fmt.Sprintf("secateur-%s.tgz", from.version)}, content, err
}

// deb is a Debian package: the binary, manual pages and licences.
func deb(from source, s system, files []entry) (artifact, []byte, error) {
	control := fmt.Sprintf("Package: secateur\nVersion: %s\nArchitecture: %s\nMaintainer: secateur maintainers <maintainers@secateur.invalid>\nSection: devel\nPriority: optional\nDescription: %s\n",
		strings.ReplaceAll(from.version, "-", "~"), s.arch, about)
	var data []entry
	dirs := map[string]bool{}
	for _, f := range files {
		to := "usr/share/doc/secateur/" + f.name
		switch {
		case f.name == "secateur":
			to = "usr/bin/secateur"
		case path.Dir(f.name) == "man":
			to = "usr/share/man/man1/" + path.Base(f.name)
		}
		for d := path.Dir(to); d != "."; d = path.Dir(d) {
			dirs[d] = true
		}
		data = append(data, entry{name: "./" + to, mode: f.mode, content: f.content})
	}
	var folders []entry
	for _, d := range slices.Sorted(maps.Keys(dirs)) {
		folders = append(folders, entry{name: "./" + d + "/", mode: 0o755})
	}
	head, err := packTar([]entry{{name: "./control", mode: 0o644, content: []byte(control)}}, from.time)
	if err != nil {
		return artifact{}, nil, err
	}
	body, err := packTar(append(folders, data...), from.time)
	if err != nil {
		return artifact{}, nil, err
	}
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	for _, part := range []entry{{name: "debian-binary", content: []byte("2.0\n")}, {name: "control.tar.gz", content: head}, {name: "data.tar.gz", content: body}} {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", part.name, from.time.Unix(), 0, 0, "100644", len(part.content))
		b.Write(part.content)
		if len(part.content)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return artifact{name: fmt.Sprintf("secateur_%s_%s.deb", from.version, s.arch)}, b.Bytes(), nil
}

// scoop is the manifest by which Scoop installs the archives for Windows.
func scoop(version, url string, made []artifact) ([]byte, error) {
	type place struct {
		URL  string `json:"url"`
		Hash string `json:"hash"`
	}
	manifest := struct {
		Version      string           `json:"version"`
		Description  string           `json:"description"`
		Homepage     string           `json:"homepage"`
		License      string           `json:"license"`
		Architecture map[string]place `json:"architecture"`
		Bin          string           `json:"bin"`
	}{version, about, url, "Apache-2.0", map[string]place{}, "secateur.exe"}
	for _, a := range made {
		if a.system.os == "windows" {
			manifest.Architecture[map[string]string{"amd64": "64bit", "arm64": "arm64"}[a.system.arch]] = place{url + "/" + a.name, fmt.Sprintf("%x", a.sum)}
		}
	}
	out, err := json.MarshalIndent(manifest, "", "  ")
	return append(out, '\n'), err
}

// winget are the manifests by which winget installs the archives for Windows, by the names of their files.
func winget(version, url string, made []artifact) map[string][]byte {
	const id, schema = "Secateur.Secateur", "1.10.0"
	head := func(kind string) string {
		return fmt.Sprintf("# yaml-language-server: $schema=https://aka.ms/winget-manifest.%s.%s.schema.json\nPackageIdentifier: %s\nPackageVersion: %s\n", kind, schema, id, version)
	}
	foot := func(kind string) string { return fmt.Sprintf("ManifestType: %s\nManifestVersion: %s\n", kind, schema) }
	var installers strings.Builder
	for _, a := range made {
		if a.system.os == "windows" {
			arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[a.system.arch]
			fmt.Fprintf(&installers, "- Architecture: %s\n  InstallerUrl: %s/%s\n  InstallerSha256: %X\n", arch, url, a.name, a.sum)
		}
	}
	return map[string][]byte{
		id + ".yaml": []byte(head("version") + "DefaultLocale: en-US\n" + foot("version")),
		id + ".installer.yaml": []byte(head("installer") + "InstallerType: zip\nNestedInstallerType: portable\nNestedInstallerFiles:\n- RelativeFilePath: secateur.exe\n  PortableCommandAlias: secateur\nInstallers:\n" +
			installers.String() + foot("installer")),
		id + ".locale.en-US.yaml": []byte(head("defaultLocale") + "PackageLocale: en-US\nPublisher: secateur\nPackageName: secateur\nLicense: Apache-2.0\nShortDescription: " + about + "\n" + foot("defaultLocale")),
	}
}
