package sampledata

import "embed"

// Policies are the example policies, company.yaml and individual.yaml, and acme.yaml, a company for which the first can
// be evaluated.
//
//go:embed policies/*.yaml
var Policies embed.FS
