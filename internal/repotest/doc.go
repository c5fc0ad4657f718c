// Package repotest tests what no package can test alone: which package may import which, and that the template, the
// state machine, the policies, the interface description, the sample events, the documents and the Go code agree.
package repotest
