package main

import (
	"encoding/hex"
	"encoding/json"
	"time"
)

const (
	bomName        = "secateur.cdx.json"
	provenanceName = "secateur.intoto.json"
)

// statement is an in-toto statement v1 with a SLSA provenance v1 predicate, with the fields we use:
// which files came from which commit, by which command, with which Go. It is not signed here; the
// publisher of the release signs it.
type statement struct {
	Type          string    `json:"_type"`
	Subject       []subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     predicate `json:"predicate"`
}

type subject struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"`
}

type predicate struct {
	BuildDefinition buildDefinition `json:"buildDefinition"`
	RunDetails      runDetails      `json:"runDetails"`
}

type buildDefinition struct {
	BuildType            string         `json:"buildType"`
	ExternalParameters   map[string]any `json:"externalParameters"`
	ResolvedDependencies []resource     `json:"resolvedDependencies"`
}

type resource struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest,omitempty"`
}

type runDetails struct {
	Builder  map[string]string `json:"builder"`
	Metadata map[string]string `json:"metadata"`
}

func provenance(from source, made []artifact) ([]byte, error) {
	s := statement{Type: "https://in-toto.io/Statement/v1", PredicateType: "https://slsa.dev/provenance/v1"}
	for _, a := range made {
		s.Subject = append(s.Subject, subject{Name: a.name, Digest: map[string]string{"sha256": hex.EncodeToString(a.sum[:])}})
	}
	s.Predicate = predicate{
		buildDefinition{
			BuildType:          "urn:secateur:make-release",
			ExternalParameters: map[string]any{"version": from.version, "commit": from.commit, "modified": from.modified},
			ResolvedDependencies: []resource{
				{Name: "secateur", Digest: map[string]string{"gitCommit": from.commit}},
				{Name: from.golang},
			},
		},
		runDetails{
			Builder:  map[string]string{"id": "urn:secateur:by-hand"},
			Metadata: map[string]string{"invocationId": from.commit, "startedOn": from.time.Format(time.RFC3339)},
		},
	}
	text, err := json.MarshalIndent(s, "", "  ")
	return append(text, '\n'), err
}
