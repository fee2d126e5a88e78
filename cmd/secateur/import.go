package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"secateur/internal/config"
	"secateur/internal/config/document"
	"secateur/internal/ops/clients"
	"secateur/internal/secret"
)

// foundClient is one file of a client with the servers that are taken over from it.
type foundClient struct {
	Client  string        `json:"client"` // "" for a file that was named itself
	File    string        `json:"file"`
	Servers []foundServer `json:"servers"`
}

type foundServer struct {
	ID      string   `json:"id"`
	Command []string `json:"command"` // null for a URL
	URL     *string  `json:"url"`     // null for a command
	Held    bool     `json:"held"`    // not started until it is approved
	Sandbox string   `json:"sandbox"` // the proposed profile; "": none

	file config.FileServer
}

func newImport(w world) *cobra.Command {
	var file, profile string
	var from []string
	var flags changeFlags
	cmd := &cobra.Command{
		Use:   "import",
		Short: "Take servers over from the files of MCP clients",
		Long: `import reads the servers that clients of this machine list, shows their whole commands and
what would change, and puts them into the user's configuration file, or into the one that
--config or SECATEUR_CONFIG names; ./secateur.toml is only edited if it is named. The clients'
files stay as they are; 'secateur connect' changes those. Literal secrets are shown as [secret] where
they are set: values of env and headers, and user, password and query of a URL. A command, its
arguments, its directory and the host of a URL are shown whole.

What it takes over is held: listed, and not started until 'secateur approve ID'. trust = true under
[import] starts it at once.

A server that is there already is not taken twice; one whose name is taken gets a number.
Without --from it looks at every client: ` + strings.Join(clients.Names(), ", ") + `.`,
		Example: `  secateur import --dry-run
  secateur import --from cursor --from ./.mcp.json --yes`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return w.importServers(file, from, profile, flags) },
	}
	configFlag(cmd, &file)
	cmd.Flags().StringArrayVar(&from, "from", nil, "`client` or file to read; may be given several times (default: every client)")
	_ = cmd.RegisterFlagCompletionFunc("from", cobra.FixedCompletions(clients.Names(), cobra.ShellCompDirectiveDefault))
	sandboxFlag(cmd, &profile)
	flags.register(cmd)
	return cmd
}

func (w world) importServers(flag string, from []string, profile string, flags changeFlags) error {
	sources, err := w.importSources(from)
	if err != nil {
		return err
	}
	f, err := w.editable(flag, config.InitOwn())
	if err != nil {
		return err
	}
	after, found, err := w.takeOver(f, sources, profile)
	if err != nil {
		return err
	}
	if !flags.asJSON {
		w.showFound(found)
	}
	w.warnUnset(f)
	if !slices.ContainsFunc(found, func(c foundClient) bool { return len(c.Servers) > 0 }) {
		after = f.before.Data
	}
	return f.settle(w, change{Found: slices.Concat([]foundClient{}, found)}, flags, after)
}

// importSources are the files to read: those that were named, or every client's that is there.
func (w world) importSources(from []string) ([]foundClient, error) {
	var out []foundClient
	if len(from) == 0 {
		for _, c := range clients.Known() {
			out = append(out, w.filesOf(c)...)
		}
		return out, nil
	}
	for _, name := range from {
		c, known := clients.ByName(name)
		if !known {
			if _, err := os.Stat(name); err != nil {
				return nil, fmt.Errorf("%q is neither a client nor a file%s", name, nearestClient(name))
			}
			path, err := filepath.Abs(name)
			if err != nil {
				return nil, err
			}
			out = append(out, foundClient{File: path})
			continue
		}
		files := w.filesOf(c)
		if len(files) == 0 {
			return nil, fmt.Errorf("%s has no file at %s", c.Title, strings.Join(c.Files(w.machine()), " or "))
		}
		out = append(out, files...)
	}
	return out, nil
}

func (w world) filesOf(c clients.Client) []foundClient {
	var out []foundClient
	for _, path := range c.Files(w.machine()) {
		if _, err := os.Stat(path); err == nil {
			out = append(out, foundClient{Client: c.Name, File: path})
		}
	}
	return out
}

// takeOver puts the servers of all sources into the text of the configuration.
func (w world) takeOver(f *ownFile, sources []foundClient, profile string) (after []byte, found []foundClient, err error) {
	after = f.start()
	have := slices.Clone(f.list.Servers)
	taken := f.list.Taken
	for _, s := range have {
		taken[s.ID] = true
	}
	for _, source := range sources {
		data, err := clients.Read(source.File)
		if err != nil {
			return nil, nil, err
		}
		list, mistakes := config.ReadServers(source.File, data.Data, w.importOptions(), taken)
		if len(mistakes) > 0 {
			w.complain(mistakes)
			if source.Client == "" {
				return nil, nil, errors.New("nothing was written")
			}
			continue // one client's broken file is no reason to leave the others
		}
		source.Servers = []foundServer{}
		for _, s := range list.Servers {
			s = f.hold(keepEnvironment(asOurs(s, source.File), source.Client))
			if s.Own || slices.ContainsFunc(have, func(o config.FileServer) bool { return sameServer(o, s) }) {
				continue
			}
			if s, err = w.confined(s, profile); err != nil {
				return nil, nil, err
			}
			f.expect(w, s)
			next, err := f.insert(after, s)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", f.path, err)
			}
			if problems := f.alone(s); len(problems) > 0 {
				for _, p := range problems {
					fmt.Fprintf(w.err, "secateur: %s: server %q is left out: %s\n", source.File, s.ID, strings.TrimPrefix(p.Key+": "+p.Text, "servers[0]."))
				}
				continue
			}
			after, have = next, append(have, s)
			taken[s.ID] = true
			show := shown(s)
			show.Sandbox = w.proposed(s)
			source.Servers = append(source.Servers, show)
			w.complain(about(list.Warnings, s))
		}
		found = append(found, source)
	}
	return after, found, nil
}

func (w world) importOptions() config.Options {
	return config.Options{Lookup: w.lookup, ReadFile: func(path string) ([]byte, error) {
		if err := clients.Regular(path); err != nil {
			return nil, err
		}
		return config.ReadFile(path)
	}}
}

// about are the warnings that concern one server: keys that have no meaning here, an id that is not its name.
func about(warnings []config.Problem, s config.FileServer) []config.Problem {
	return slices.DeleteFunc(slices.Clone(warnings), func(p config.Problem) bool {
		rest := strings.TrimPrefix(p.Key, s.Place.Group+".")
		return rest != s.Place.Name && !strings.HasPrefix(rest, s.Place.Name+".") && !strings.HasPrefix(rest, strconv.Quote(s.Place.Name))
	})
}

// alone judges one server by itself.
func (f *ownFile) alone(s config.FileServer) []config.Problem {
	text, err := document.Insert(document.TOML, nil, document.Place{Group: "servers", List: true}, s.Fields)
	if err != nil {
		return []config.Problem{{Text: err.Error()}}
	}
	_, mistakes := config.Load("server.toml", text, f.opt)
	return mistakes
}

// asOurs makes names of files that start at the client's file start at the root.
func asOurs(s config.FileServer, file string) config.FileServer {
	s.Fields = slices.Clone(s.Fields)
	for i, field := range s.Fields {
		if cwd, ok := field.Value.(string); ok && field.Name == "cwd" && cwd != "" && !filepath.IsAbs(cwd) && !strings.HasPrefix(cwd, "$") {
			s.Fields[i].Value = filepath.Join(filepath.Dir(file), cwd)
		}
	}
	return s
}

// keepEnvironment has a server get the variables that its client gave it.
func keepEnvironment(s config.FileServer, client string) config.FileServer {
	c, known := clients.ByName(client)
	if known && c.Inherits() && field(s, "command") != nil && field(s, "pass_env") == nil {
		s.Fields = append(s.Fields, document.Field{Name: "pass_env", Value: []any{"*"}})
	}
	return s
}

// hold marks a server that must be approved before it starts, whatever its own file says.
func (f *ownFile) hold(s config.FileServer) config.FileServer {
	s.Fields = slices.DeleteFunc(s.Fields, func(f document.Field) bool { return f.Name == "held" })
	cfg, _ := config.Load(f.path, f.start(), f.opt)
	if !cfg.Import.Trust {
		s.Fields = append(s.Fields, document.Field{Name: "held", Value: true})
	}
	return s
}

// sameServer reports that two servers run or reach the same, whatever they are called.
func sameServer(a, b config.FileServer) bool {
	for _, key := range []string{"command", "url", "env", "headers", "cwd"} {
		if !reflect.DeepEqual(field(a, key), field(b, key)) {
			return false
		}
	}
	return true
}

func field(s config.FileServer, name string) any {
	for _, f := range s.Fields {
		if f.Name == name {
			return f.Value
		}
	}
	return nil
}

func shown(s config.FileServer) foundServer {
	out := foundServer{ID: s.ID, Held: field(s, "held") == true}
	out.Command, out.file = commandOf(s), s
	if address, ok := field(s, "url").(string); ok {
		address = secret.URL(address)
		out.URL = &address
	}
	return out
}

// showFound prints every whole command before anything is written.
func (w world) showFound(found []foundClient) {
	if len(found) == 0 {
		fmt.Fprintln(w.out, "no client of this machine has a file; name one with --from FILE")
		return
	}
	for _, c := range found {
		fmt.Fprintf(w.out, "%s: %s\n", c.File, plural(len(c.Servers), "new server"))
		for _, s := range c.Servers {
			what := strings.Join(quoted(s.Command), " ")
			if s.URL != nil {
				what = *s.URL
			}
			fmt.Fprintf(w.out, "  %s: %s\n", s.ID, what)
			w.tellProposal(s.file, "    ")
		}
		if len(c.Servers) > 0 && slices.ContainsFunc(c.Servers, func(s foundServer) bool { return s.Held }) {
			fmt.Fprintln(w.out, "  they are held: 'secateur approve ID' starts one")
		}
		if client, _ := clients.ByName(c.Client); client.Inherits() && len(c.Servers) > 0 {
			fmt.Fprintf(w.out, "  commands get the whole environment, as %s gives it: pass_env = [\"*\"]; name the variables instead where you can\n", client.Title)
		}
	}
}

// quoted is a command line that shows where its words end.
func quoted(argv []string) []string {
	out := make([]string, len(argv))
	for i, arg := range argv {
		out[i] = arg
		if arg == "" || strings.ContainsAny(arg, " \t\n\r\"'\\$`;|&<>()*?") || strings.ContainsFunc(arg, isHidden) {
			out[i] = "'" + strings.NewReplacer("'", `'\''`, "\t", `\t`, "\n", `\n`, "\r", `\r`).Replace(arg) + "'"
		}
	}
	return out
}
