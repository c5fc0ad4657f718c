// Package policyfile reads and writes policies as files, so that a policy can live in a repository: YAML or JSON with
// the names of the interface, jurisdictions and data groups by name, and IDs only where they are wanted (docs/policy.md
// has the format). It compares two policies, and matches those of files, which may have no IDs, with those of the
// service.
package policyfile
