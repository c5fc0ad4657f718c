// Package process starts and ends other programs.
package process
