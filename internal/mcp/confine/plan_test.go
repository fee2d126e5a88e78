package confine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// house is a home directory with programs and secrets in it.
func house(t *testing.T) (home string) {
	t.Helper()
	root := t.TempDir()
	home = filepath.Join(root, "home")
	for _, file := range []string{
		".ssh/id_rsa", "docs/a.txt", "proj/package.json", "proj/dist/index.js", "loose.js", "app/node_modules/srv/dist/index.js", "tools/bin/srv",
		".local/share/uv/python/cpython/bin/python3", ".local/bin/uvx", "venv/bin/srv",
	} {
		path := filepath.Join(home, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!"+home+"/.local/share/uv/python/cpython/bin/python3\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

func planOf(t *testing.T, s *Settings, p Program) *Plan {
	t.Helper()
	plan, err := New(s, p, Kernel{OS: "linux", ABI: 7, Filters: true})
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// grants are the rules about paths below the home and of the server's own.
func grants(p *Plan, home string) string {
	var out []string
	for _, r := range p.Rules {
		if path, ok := strings.CutPrefix(r.Path, filepath.Dir(home)); ok && !slices.Contains(homePrograms, strings.TrimPrefix(path, "/home/")) {
			out = append(out, path+":"+string(r.Rights))
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func TestProfilesGrantWhatTheySay(t *testing.T) {
	home := house(t)
	own := filepath.Join(filepath.Dir(home), "own")
	proj := filepath.Join(home, "proj")
	for name, c := range map[string]struct {
		set     *Settings
		command []string
		dir     string
		want    string
	}{
		"package": {&Settings{Profile: ProfilePackage}, []string{"npx", "-y", "srv", home + "/docs"}, proj, "/home/proj:w /own:wx"},
		"files":   {&Settings{Profile: ProfileFiles}, []string{"npx", "-y", "@org/srv", home + "/docs"}, proj, "/home/docs:w /home/proj:w /own:wx"},
		"files in options": {
			&Settings{Profile: ProfileFiles},
			[]string{"npx", "srv", "--root=" + home + "/docs", "--url=https://h/x", "file://" + home + "/loose.js", "./absent/x"},
			proj, "/home/docs:w /home/loose.js:w /home/proj:w /own:wx",
		},
		"offline":       {&Settings{Profile: ProfileOffline}, []string{"npx", "srv", "../docs"}, proj, "/home/docs:w /home/proj:w /own:wx"},
		"its package":   {&Settings{Profile: ProfilePackage}, []string{"node", home + "/proj/dist/index.js"}, home + "/docs", "/home/docs:w /home/proj:x /own:wx"},
		"its modules":   {&Settings{Profile: ProfilePackage}, []string{"node", home + "/app/node_modules/srv/dist/index.js"}, proj, "/home/app/node_modules:x /home/proj:w /own:wx"},
		"a lone script": {&Settings{Profile: ProfilePackage}, []string{"node", home + "/loose.js"}, proj, "/home/loose.js:x /home/proj:w /own:wx"},
		"a table":       {&Settings{Read: []string{"~/docs"}, Write: []string{"."}}, []string{"srv"}, proj, "/home/docs:r /home/proj:w /own:w"},
		"both":          {&Settings{Profile: ProfilePackage, Write: []string{"~/docs"}, Read: []string{"~/docs/a.txt"}}, []string{"srv"}, proj, "/home/docs:w /home/proj:w /own:wx"},
		"an outer path": {&Settings{Profile: ProfilePackage, Write: []string{"~"}}, []string{"srv"}, proj, "/home:wx /own:wx"},
		"its program":   {&Settings{}, []string{home + "/tools/bin/srv"}, proj, "/home/.local/share/uv/python/cpython:x /home/tools:x /own:w"},
		"what it runs, where it can write": {
			&Settings{Profile: ProfilePackage},
			[]string{"./tool"},
			proj, "/home/proj:wx /own:wx",
		},
	} {
		path := c.command[0]
		if !strings.Contains(path, "/") {
			path = "/usr/bin/" + path
		}
		p := planOf(t, c.set, Program{Command: c.command, Path: path, Dir: c.dir, Home: home, Own: own})
		if got := grants(p, home); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestTheHomeIsNotOpenedByTheWorkingDirectory(t *testing.T) {
	home := house(t)
	t.Chdir(home)
	p := planOf(t, &Settings{Profile: ProfilePackage}, Program{Command: []string{"srv"}, Path: "/usr/bin/srv", Home: home, Own: "/state/own"})
	if p.Dir != "/state/own/work" || grants(p, home) != "" {
		t.Errorf("it works in %s and may have %s", p.Dir, grants(p, home))
	}
	_, err := New(&Settings{Profile: ProfilePackage}, Program{Command: []string{"srv"}, Path: "/usr/bin/srv", Dir: home, Home: home, Own: "/state/own"}, Kernel{})
	if err == nil || !strings.Contains(err.Error(), "whole home directory") {
		t.Errorf("cwd = home: %v", err)
	}
}

func TestConfinedServersHaveTheirOwnHome(t *testing.T) {
	home := house(t)
	env := []string{"PATH=/bin", "HOME=" + home, "XDG_CACHE_HOME=/c", "SSH_AUTH_SOCK=/s", "LANG=C"}
	program := Program{Command: []string{"srv"}, Path: "/usr/bin/srv", Dir: home + "/proj", Env: env, Home: home, Own: "/own"}
	got := strings.Join(planOf(t, &Settings{Profile: ProfilePackage}, program).Env, " ")
	if want := "PATH=/bin LANG=C TMPDIR=/own/tmp HOME=/own UV_PYTHON_INSTALL_DIR=" + home + "/.local/share/uv/python"; got != want {
		t.Errorf("with a profile: %s, want %s", got, want)
	}
	got = strings.Join(planOf(t, &Settings{Sockets: true}, program).Env, " ")
	if want := strings.Join(env, " ") + " TMPDIR=/own/tmp"; got != want {
		t.Errorf("with a table: %s, want %s", got, want)
	}
}

func TestPathsThatAreNotThereAreNamed(t *testing.T) {
	home := house(t)
	p := planOf(t, &Settings{Read: []string{"~/absent", "~/docs"}}, Program{Command: []string{"srv"}, Path: "/usr/bin/srv", Dir: home, Home: home, Own: "/own"})
	if len(p.Absent) != 1 || p.Absent[0] != home+"/absent" {
		t.Errorf("absent: %q", p.Absent)
	}
}

func TestGapsNameWhatTheKernelCannotEnforce(t *testing.T) {
	newest := Kernel{OS: "linux", ABI: 7, Filters: true}
	older := func(abi int) Kernel { k := newest; k.ABI = abi; return k }
	pkg, off := &Settings{Profile: ProfilePackage}, &Settings{Profile: ProfileOffline}
	for name, c := range map[string]struct {
		set  *Settings
		k    Kernel
		want string
	}{
		"none":                 {pkg, newest, ""},
		"no sandbox":           {nil, Kernel{OS: "linux"}, ""},
		"off":                  {&Settings{Profile: ProfileOff}, Kernel{OS: "darwin"}, ""},
		"macOS":                {pkg, Kernel{OS: "darwin"}, "everything"},
		"Windows":              {pkg, Kernel{OS: "windows"}, "everything"},
		"before 5.13":          {pkg, older(0), "files signals"},
		"before 6.2":           {pkg, older(2), "truncating signals"},
		"before 6.7":           {&Settings{Net: Net{443}}, older(3), "TCP signals"},
		"before 6.7, offline":  {off, older(3), "signals"},
		"before 6.12":          {pkg, older(5), "signals"},
		"without filters":      {pkg, Kernel{OS: "linux", ABI: 7}, "Unix"},
		"offline without them": {off, Kernel{OS: "linux", ABI: 3}, "TCP UDP signals Unix"},
		"root":                 {&Settings{Processes: 9}, Kernel{OS: "linux", ABI: 7, Filters: true, Root: true}, "the"},
	} {
		var got []string
		for _, gap := range Gaps(c.set, c.k) {
			word, _, _ := strings.Cut(gap, " ")
			got = append(got, strings.TrimSuffix(word, ":"))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %s", name, got, c.want)
		}
	}
}

func TestSettingsOfSandboxesAreChecked(t *testing.T) {
	for want, s := range map[string]Settings{
		"":                 {Profile: ProfileFiles, Read: []string{"a"}, Net: Net{443}},
		"profile: \"all\"": {Profile: "all"},
		"profile: off":     {Profile: ProfileOff, Read: []string{"a"}},
		"net: the":         {Profile: ProfileOffline, Net: Net{443}},
		"net[0]":           {Net: Net{70000}},
		"write[1]":         {Write: []string{"a", ""}},
		"files":            {Files: 3},
		"memory_mb":        {MemoryMB: -1},
	} {
		err := s.Validate()
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%+v: %v, want %s", s, err, want)
		}
	}
}

func TestPlansAreDescribed(t *testing.T) {
	home := house(t)
	p := planOf(t, &Settings{Profile: ProfileFiles, Net: Net{443}}, Program{
		Command: []string{"node", home + "/proj/dist/index.js", home + "/docs"}, Path: "/usr/bin/node", Dir: home + "/docs", Home: home, Own: home + "/.local/state/own",
	})
	want := "reads system directories and installed programs, ~/proj|writes ~/docs, ~/.local/state/own|connects to TCP ports 443, and by UDP|nothing else below " + home
	if got := strings.Join(p.Describe(home), "|"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestProfilesAreProposedByTheCommand(t *testing.T) {
	home := house(t)
	for want, commands := range map[string][][]string{
		ProfilePackage: {{"npx", "-y", "@org/srv"}, {"uvx", "srv", "--url", "https://h/x"}, {"node", home + "/proj/dist/index.js"}, {"/opt/x/srv"}},
		ProfileFiles:   {{"npx", "srv", home + "/docs"}, {"npx", "srv", "~/docs"}, {"node", home + "/proj/dist/index.js", "--root=" + home + "/docs"}},
		ProfileOff:     {{"docker", "run", "-v", home + "/docs:/d", "image"}, {"/usr/bin/podman", "run", "x"}},
	} {
		for _, command := range commands {
			if got := Propose(command, home+"/proj", home); got != want {
				t.Errorf("%q: %s, want %s", command, got, want)
			}
		}
	}
}
