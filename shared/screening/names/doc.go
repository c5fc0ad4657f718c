// Package names reads names of persons and organisations in any script: it folds them to words of Latin letters, tells
// which words say who is meant, and compares words by how they are written and how they sound.
package names
