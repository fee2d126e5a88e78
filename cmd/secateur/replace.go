package main

import (
	"fmt"
	"slices"
	"strings"

	"secateur/internal/config"
	"secateur/internal/ops/clients"
)

// overlap divides the servers of a client's file into those that the configuration has too, and the others.
func (w world) overlap(c clients.Client, own string) (both, others []string, err error) {
	if own == "" {
		return nil, nil, nil
	}
	ours, err := w.serversOf(own)
	if err != nil {
		return nil, nil, err
	}
	theirs, err := w.serversOf(c.File(w.machine()))
	if err != nil {
		return nil, nil, err
	}
	held := w.heldServers(own)
	for _, s := range theirs {
		runs := func(o config.FileServer) bool {
			return sameServer(o, s) && !held[o.ID] && (field(o, "disabled") != true || field(s, "disabled") == true)
		}
		switch {
		case s.Own:
		case slices.ContainsFunc(ours, runs):
			both = append(both, s.Place.Name)
		default:
			others = append(others, s.Place.Name)
		}
	}
	return both, others, nil
}

// heldServers returns the servers of a configuration that wait for an approval.
func (w world) heldServers(path string) map[string]bool {
	held := map[string]bool{}
	l, err := w.load(path, "", usersOwn)
	if err != nil {
		return held
	}
	for _, s := range l.Servers {
		held[s.ID] = s.Held
	}
	return held
}

// serversOf reads the servers of a file, which may be missing. Mistakes are reported where the file is changed.
func (w world) serversOf(path string) ([]config.FileServer, error) {
	now, err := clients.Read(path)
	if err != nil {
		return nil, err
	}
	list, _ := config.ReadServers(path, now.Data, w.importOptions(), nil)
	for i, s := range list.Servers {
		list.Servers[i] = asOurs(s, path)
	}
	return list.Servers, nil
}

// tellReplaced explains what happens to the client's own servers.
func (w world) tellReplaced(c clients.Client, both, others []string, replace bool) {
	switch {
	case len(both) > 0 && replace:
		fmt.Fprintf(w.err, "secateur: takes out of the file of %s what it runs itself: %s; --replace=false keeps them, and their tools are listed twice\n", c.Title, strings.Join(both, ", "))
	case len(both) > 0:
		fmt.Fprintf(w.err, "secateur: %s lists what secateur runs too, so their tools are there twice: %s\n", c.Title, strings.Join(both, ", "))
	}
	if len(others) > 0 {
		fmt.Fprintf(w.err, "secateur: %s keeps the servers that secateur does not have: %s; 'secateur import --from %s' takes them over, 'secateur approve' starts what was taken\n", c.Title, strings.Join(others, ", "), c.Name)
	}
}
