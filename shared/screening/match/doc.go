// Package match finds the entries of watchlists whose names are like a given one, scores how like they are, and
// explains why.
package match
