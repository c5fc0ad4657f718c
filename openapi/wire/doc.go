// Package wire has the types of the interface's requests and replies, which are generated from its description,
// openapi/*.yaml: make description rewrites them. The service replies with them, and the client and the command line
// read them.
//
// A member that is always there is a field of its type; one that may be null is a pointer, a list or a map that is null
// if it is nil. A member that may be absent is left out if it is "", nil or empty. Enumerations are strings, and a
// union is any value, but for the types of this package that are written by hand.
package wire

import _ "embed"

// Operations has the method and the path of each operation of the interface, one in a line.
//
//go:embed operations.txt
var Operations string
