package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"runtime/debug"
	"strings"
	"time"
)

// The members of a CycloneDX 1.6 document that a release has (cyclonedx.org/docs/1.6/json).
type (
	bom struct {
		Format       string       `json:"bomFormat"`
		SpecVersion  string       `json:"specVersion"`
		Version      int          `json:"version"`
		Metadata     metadata     `json:"metadata"`
		Components   []component  `json:"components"`
		Dependencies []dependency `json:"dependencies"`
	}
	metadata struct {
		Timestamp  string     `json:"timestamp"`
		Component  component  `json:"component"`
		Properties []property `json:"properties"`
	}
	component struct {
		Ref      string          `json:"bom-ref"`
		Type     string          `json:"type"`
		Name     string          `json:"name"`
		Version  string          `json:"version"`
		Scope    string          `json:"scope,omitempty"`
		Hashes   []hash          `json:"hashes,omitempty"`
		Licenses []licenceChoice `json:"licenses,omitempty"`
		PURL     string          `json:"purl"`
	}
	hash struct {
		Algorithm string `json:"alg"`
		Content   string `json:"content"`
	}
	licenceChoice struct {
		License licence `json:"license"`
	}
	licence struct {
		ID   string `json:"id,omitempty"`
		Name string `json:"name,omitempty"`
	}
	property struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	dependency struct {
		Ref       string   `json:"ref"`
		DependsOn []string `json:"dependsOn,omitempty"`
	}
)

// sbom returns the list of what a program is made of.
func sbom(info *debug.BuildInfo, modules []module, t target) ([]byte, error) {
	own := component{
		Ref: "sluice", Type: "application", Name: "sluice", Version: info.Main.Version,
		Licenses: []licenceChoice{{licence{ID: "Apache-2.0"}}}, PURL: "pkg:golang/sluice@" + info.Main.Version,
	}
	standard := component{
		Ref: "std", Type: "library", Name: "std", Version: info.GoVersion, Scope: "required",
		Licenses: []licenceChoice{{licence{ID: "BSD-3-Clause"}}},
		PURL:     "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go"),
	}
	b := bom{
		Format: "CycloneDX", SpecVersion: "1.6", Version: 1,
		Metadata: metadata{
			Timestamp: revisionTime(info).UTC().Format(time.RFC3339), Component: own,
			Properties: []property{
				{"sluice:goos", t.os}, {"sluice:goarch", t.arch}, {"sluice:revision", setting(info, "vcs.revision")},
			},
		},
		Components: []component{standard},
	}
	for _, m := range modules {
		c, err := m.component()
		if err != nil {
			return nil, err
		}
		b.Components = append(b.Components, c)
	}
	all := dependency{Ref: own.Ref}
	for _, c := range b.Components {
		all.DependsOn = append(all.DependsOn, c.Ref)
	}
	b.Dependencies = []dependency{all}
	text, err := json.MarshalIndent(b, "", "  ")
	return append(text, '\n'), err
}

func (m module) component() (component, error) {
	purl := "pkg:golang/" + m.Path + "@" + m.Version
	c := component{
		Ref: purl, Type: "library", Name: m.Path, Version: m.Version, Scope: "required", PURL: purl,
	}
	// The h1 checksum of go.sum is a SHA-256 over the list of the module's files.
	if sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:")); err == nil && len(sum) > 0 {
		c.Hashes = []hash{{"SHA-256", hex.EncodeToString(sum)}}
	}
	files, err := m.licences()
	if err != nil {
		return c, err
	}
	seen := map[licence]bool{}
	for _, f := range files {
		if l, ok := recognise(f); ok && !seen[l] {
			seen[l] = true
			c.Licenses = append(c.Licenses, licenceChoice{l})
		}
	}
	return c, nil
}

// recognise returns the licence that a file holds, by its SPDX identifier, or by the file's name if the text is not one
// of the common ones. Notices, summaries and patent grants are not licences.
func recognise(f licenceFile) (licence, bool) {
	upper := strings.ToUpper(f.name)
	if strings.Contains(upper, "NOTICE") || strings.Contains(upper, "PATENTS") || strings.Contains(upper, "SUMMARY") {
		return licence{}, false
	}
	text := string(bytes.Join(bytes.Fields(f.text), []byte(" ")))
	for _, known := range []struct{ id, words string }{
		{"Apache-2.0", "Apache License Version 2.0"},
		{"MPL-2.0", "Mozilla Public License Version 2.0"},
		{"BSD-3-Clause", "Neither the name of"},
		{"BSD-2-Clause", "Redistributions in binary form must reproduce"},
		{"MIT", "The above copyright notice and this permission notice"},
		{"MIT-0", "Permission is hereby granted, free of charge, to any person obtaining a copy"},
		{"ISC", "Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee"},
		{"CC0-1.0", "CC0 1.0 Universal"},
	} {
		if strings.Contains(text, known.words) {
			return licence{ID: known.id}, true
		}
	}
	return licence{Name: f.name}, true
}
