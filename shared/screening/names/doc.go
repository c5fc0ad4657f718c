// Package names reads names of persons and organisations in any script: it folds them to words of Latin letters, finds
// the distinctive words, and compares words by spelling and sound.
package names
